# cmake -D BINARY_DIR=... -D WORK_DIR=... -D COMPILER=... -D COMPONENT=core|torch -P install_test.cmake
# Installs BINARY_DIR below WORK_DIR, looks that everything is there, builds and runs the consumer.
cmake_minimum_required(VERSION 3.25)
set(prefix ${WORK_DIR}/prefix)
file(REMOVE_RECURSE ${WORK_DIR})

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BINARY_DIR} --prefix ${prefix})
foreach(expected bin/trainwarden include/trainwarden/hook.h include/trainwarden/trial.h
                 share/bash-completion/completions/trainwarden)
  if(NOT EXISTS ${prefix}/${expected})
    message(FATAL_ERROR "cmake --install did not install ${expected}")
  endif()
endforeach()
foreach(expected libtrainwarden.so TrainwardenConfig.cmake LICENSE read_run.py)
  file(GLOB_RECURSE found ${prefix}/${expected})
  if(NOT found)
    message(FATAL_ERROR "cmake --install did not install ${expected}")
  endif()
endforeach()
run(${prefix}/bin/trainwarden --version)

# An untouched LibTorch program, watched by what was installed.
if(COMPONENT STREQUAL "torch")
  run(${CMAKE_COMMAND} -E env OMP_NUM_THREADS=1 ${prefix}/bin/trainwarden run --runs ${WORK_DIR}/runs --name untouched --
      ${BINARY_DIR}/tests/preload/untouched_training conv)
  run(${prefix}/bin/trainwarden show --runs ${WORK_DIR}/runs untouched)
endif()

# The first C++ of the README is part of the consumer, so that it stays true.
file(READ ${CMAKE_CURRENT_LIST_DIR}/../../README.md readme)
if(NOT readme MATCHES "```cpp\n([^`]*)```")
  message(FATAL_ERROR "README.md has no C++ any more; the consumer of component torch runs it")
endif()
file(WRITE ${WORK_DIR}/readme_example.inc "${CMAKE_MATCH_1}")

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${WORK_DIR}/build -G Ninja -D CMAKE_BUILD_TYPE=Release
    -D CMAKE_CXX_COMPILER=${COMPILER} -D CMAKE_PREFIX_PATH=${prefix} -D COMPONENT=${COMPONENT}
    -D README_EXAMPLE=${WORK_DIR}/readme_example.inc)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)
file(MAKE_DIRECTORY ${WORK_DIR}/cwd)
execute_process(COMMAND ${WORK_DIR}/build/consumer WORKING_DIRECTORY ${WORK_DIR}/cwd COMMAND_ERROR_IS_FATAL ANY)
run(${prefix}/bin/trainwarden show ${WORK_DIR}/cwd/runs/first)
