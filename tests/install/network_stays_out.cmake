# cmake -D PROGRAM=... -D LIBRARIES=a.so;b.so -P network_stays_out.cmake
# What a training loads needs no library of the network, of archives or of pictures; the program needs those of the
# network, which shows that they would be seen.
cmake_minimum_required(VERSION 3.25)

function(needed_by file result)
  execute_process(COMMAND readelf --dynamic --wide ${file} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\\[lib(curl|ssl|crypto|zip|png)[^]]*\\]" found "${text}")
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

foreach(library IN LISTS LIBRARIES)
  needed_by(${library} found)
  if(found)
    message(FATAL_ERROR "${library} needs ${found}; the network belongs into the program only (ADR 0019), and archives and pictures are loaded when one is written (ADR 0012)")
  endif()
endforeach()
needed_by(${PROGRAM} found)
if(NOT found MATCHES "libcurl" OR NOT found MATCHES "libcrypto")
  message(FATAL_ERROR "${PROGRAM} needs no libcurl or no libcrypto (found: ${found}), so this test would see nothing")
endif()
