# cmake -D SOURCE_DIR=... -D WORK_DIR=... -P needs_test.cmake
# Configures where parts are missing: the message names the packages of these, and of nothing else.
cmake_minimum_required(VERSION 3.25)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR}/nothing)

# configure(RESULT ARGUMENT...): with variables of the environment and options; what the failure says is in RESULT.
function(configure result)
  execute_process(
    COMMAND ${CMAKE_COMMAND} -E env --unset=CXX --unset=PKG_CONFIG ${ARGN} ${CMAKE_COMMAND} -S ${SOURCE_DIR}
            -B ${WORK_DIR}/build -D TRAINWARDEN_DEVELOPER=OFF -D TRAINWARDEN_TORCH=OFF
            -D CMAKE_DISABLE_FIND_PACKAGE_fmt=ON
    RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(status EQUAL 0)
    message(FATAL_ERROR "expected that it cannot be configured with ${ARGN}")
  endif()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

function(expect text)
  foreach(word IN LISTS ARGN)
    if(NOT text MATCHES "apt-get install --no-install-recommends [^\n]*${word}")
      message(FATAL_ERROR "expected that ${word} is named; found: ${text}")
    endif()
  endforeach()
endfunction()

configure(text PATH=${WORK_DIR}/nothing)
expect("${text}" build-essential pkg-config libfmt-dev zlib1g-dev libboost1.81-dev)

configure(text PKG_CONFIG_LIBDIR=${WORK_DIR}/nothing PKG_CONFIG_PATH=)
expect("${text}" libfmt-dev libpcre2-dev libcurl4-openssl-dev libpng-dev)
if(text MATCHES "zlib1g-dev|nlohmann|libboost|Could NOT find")
  message(FATAL_ERROR "expected that only what is missing is named, and before CMake speaks; found: ${text}")
endif()

# The names are those that ./dev installs by.
include(${SOURCE_DIR}/cmake/TrainwardenNeeds.cmake)
file(GLOB lists ${SOURCE_DIR}/scripts/packages/*.txt)
foreach(list IN LISTS lists)
  file(READ ${list} content)
  string(APPEND installed "\n${content}")
endforeach()
foreach(need IN LISTS tw_needs)
  string(REGEX REPLACE " .*" "" package "${need}")
  if(NOT installed MATCHES "\n${package} ")
    message(FATAL_ERROR "expected ${package} in scripts/packages")
  endif()
endforeach()
