# The floors of another build folder in place of our own (TRAINWARDEN_RELEASE_BUILD): `pip install .` then compiles the
# Python core's own sources only. Sets tw_floors_are_built. What lies there must be of these sources, and be compiled as we
# would; it is brought up to date first.
set(TRAINWARDEN_RELEASE_BUILD ${PROJECT_SOURCE_DIR}/build/release CACHE PATH
    "The build folder of the preset release: a package for pip takes its floors from there where they are built; empty: never")
set(tw_floors_are_built OFF)

# Whether the floors there are what we would compile.
function(tw_suits result folder)
  set(${result} OFF PARENT_SCOPE)
  if(NOT folder OR NOT EXISTS ${folder}/TrainwardenWheelParts.cmake OR NOT EXISTS ${folder}/CMakeCache.txt
     OR PROJECT_BINARY_DIR STREQUAL folder)
    return()
  endif()
  load_cache(${folder} READ_WITH_PREFIX there_ CMAKE_HOME_DIRECTORY CMAKE_CXX_COMPILER CMAKE_CXX_FLAGS CMAKE_BUILD_TYPE
             TRAINWARDEN_SANITIZE TRAINWARDEN_PAGE)
  foreach(name CMAKE_HOME_DIRECTORY CMAKE_CXX_FLAGS CMAKE_BUILD_TYPE TRAINWARDEN_SANITIZE TRAINWARDEN_PAGE)
    if(NOT "${there_${name}}" STREQUAL "${${name}}")
      return()
    endif()
  endforeach()
  # Python names the compiler that made it, which is the system's by another name.
  file(REAL_PATH ${there_CMAKE_CXX_COMPILER} there)
  file(REAL_PATH ${CMAKE_CXX_COMPILER} here)
  if(NOT there STREQUAL here)
    return()
  endif()
  # The floor that is built last: without it there is nothing to gain.
  if(EXISTS ${folder}/${tw_folder_cli}/libtw_cli.a)
    set(${result} ON PARENT_SCOPE)
  endif()
endfunction()

if(SKBUILD)
  tw_suits(tw_floors_are_built "${TRAINWARDEN_RELEASE_BUILD}")
endif()
if(tw_floors_are_built)
  message(STATUS "Taking the floors of ${TRAINWARDEN_RELEASE_BUILD}")
  execute_process(COMMAND ${CMAKE_COMMAND} --build ${TRAINWARDEN_RELEASE_BUILD} --target tw_wheel_parts
                  COMMAND_ERROR_IS_FATAL ANY)
  include(${TRAINWARDEN_RELEASE_BUILD}/TrainwardenWheelParts.cmake)
  foreach(floor IN LISTS tw_floors)
    add_library(tw_${floor} ALIAS Built::tw_${floor})
  endforeach()
  if(TRAINWARDEN_PAGE)
    add_custom_target(tw_notebook_page)  # tw_wheel_parts has made it
    set_target_properties(tw_notebook_page PROPERTIES folder ${TRAINWARDEN_RELEASE_BUILD}/web/notebook)
  endif()
  add_executable(trainwarden src/ui/cli/main.cc)
  target_link_libraries(trainwarden PRIVATE tw_cli tw_warnings)
  add_subdirectory(adapters/python)
endif()
