# Language, warnings and sanitizers, for everything of ours.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# -O1 takes three quarters of the compile time of -O2. What a training runs through gets -O2, and what is measurably slower
# without it: floors that are HOT (tw_floor), and the adapters. -O3 makes the compilers slow and nothing measurably faster.
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG")

# tw_optimise(TARGET): more than by default, which is -O1, and -O0 under sanitizers.
function(tw_optimise target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O2>)
  if(TRAINWARDEN_SANITIZE)
    target_compile_options(${target} PRIVATE -O1)
  endif()
endfunction()

# tw_for_tests(TARGET): sources of tests, which are compiled once and run once. Under sanitizers the code under test is
# watched for undefined behaviour, and counted for the fuzzer; that of the tests is not, which compiles in half the time.
function(tw_for_tests target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O0>)
  if(TRAINWARDEN_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
    target_compile_definitions(${target} PRIVATE TW_SANITIZED)
  endif()
  if(TRAINWARDEN_SANITIZE MATCHES "undefined")
    target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
  endif()
  if(TRAINWARDEN_FUZZ)
    target_compile_options(${target} PRIVATE -fno-sanitize=fuzzer-no-link)
  endif()
endfunction()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths are taken relative to the build folder: what one has compiled of our sources is there for the next, such as
  # that of the Python package.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}
                                 CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

if(TRAINWARDEN_UNITY)
  # Most of the time goes into headers, and into templates that many sources use: a target as one source takes a fifth
  # less than in batches of 36.
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 400)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ looks for memory that it can reuse less often: a sixth less time, for a tenth more memory.
  add_compile_options("SHELL:--param ggc-min-expand=200" "SHELL:--param ggc-min-heapsize=500000")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # Or a precompiled header that ccache had kept would be refused for its time.
  add_compile_options("SHELL:-Xclang -fno-pch-timestamp")
endif()

# Fused multiply-add would give other bits on CPUs that have it.
add_compile_options(-ffp-contract=off)

add_library(tw_warnings INTERFACE)
target_compile_options(tw_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
                                             -Wnon-virtual-dtor -Woverloaded-virtual
                                             # Designated initialisers leave the other members at their defaults.
                                             -Wno-missing-field-initializers)
if(TRAINWARDEN_WERROR)
  target_compile_options(tw_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Known false alarms of g++ 12 on inlined standard library code.
  target_compile_options(tw_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND TRAINWARDEN_UNITY)
  # g++ takes a source that is included for a header, where no class may hold what an anonymous namespace has.
  target_compile_options(tw_warnings INTERFACE -Wno-subobject-linkage)
endif()

if(TRAINWARDEN_SANITIZE)
  add_compile_options(-fsanitize=${TRAINWARDEN_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Sixty programs of a hundred megabytes each: lld takes a fifth of the time.
  add_link_options(-fsanitize=${TRAINWARDEN_SANITIZE} -fuse-ld=lld)
  # Nor have they to be moved in memory, which takes a table of an eighth of their size; and archives name their objects,
  # which are large, where others hold copies of them.
  string(APPEND CMAKE_EXE_LINKER_FLAGS " -no-pie")
  set(CMAKE_C_ARCHIVE_CREATE "<CMAKE_AR> qcT <TARGET> <LINK_FLAGS> <OBJECTS>")
  set(CMAKE_CXX_ARCHIVE_CREATE ${CMAKE_C_ARCHIVE_CREATE})
endif()
find_program(TRAINWARDEN_LLD ld.lld)
if(NOT TRAINWARDEN_SANITIZE AND NOT TRAINWARDEN_UNITY AND TRAINWARDEN_LLD)
  # The build for daily work has as many programs as large, and its user waits for them after each change.
  add_link_options(-fuse-ld=lld)
endif()
if(TRAINWARDEN_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # One runtime for our programs and, preloaded, for those that know nothing of it and load a library of ours: Python,
  # and LibTorch programs under `trainwarden run`.
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libclang_rt.asan-${CMAKE_SYSTEM_PROCESSOR}.so
                  OUTPUT_VARIABLE tw_asan_runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  add_link_options(-shared-libasan)
  get_filename_component(tw_asan_runtime_folder ${tw_asan_runtime} DIRECTORY)
  list(APPEND CMAKE_BUILD_RPATH ${tw_asan_runtime_folder})
endif()
if(TRAINWARDEN_FUZZ)
  # Everything counts its branches, so that the fuzzer sees where an input leads.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
