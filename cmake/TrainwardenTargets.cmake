# The table of floors. Sets tw_floors, from the ground up, and for each tw_folder_NAME and tw_includes_NAME.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/floors.json)
file(READ ${PROJECT_SOURCE_DIR}/src/floors.json tw_table)
set(tw_floors "")
string(JSON tw_count LENGTH "${tw_table}" floors)
math(EXPR tw_last "${tw_count} - 1")
foreach(tw_index RANGE ${tw_last})
  string(JSON tw_name GET "${tw_table}" floors ${tw_index} name)
  string(JSON tw_folder_${tw_name} GET "${tw_table}" floors ${tw_index} folder)
  set(tw_includes_${tw_name} "")
  string(JSON tw_includes LENGTH "${tw_table}" floors ${tw_index} includes)
  while(tw_includes GREATER 0)
    math(EXPR tw_includes "${tw_includes} - 1")
    string(JSON tw_include GET "${tw_table}" floors ${tw_index} includes ${tw_includes})
    list(PREPEND tw_includes_${tw_name} ${tw_include})
  endwhile()
  list(APPEND tw_floors ${tw_name})
endforeach()

# tw_precompiled_headers(TARGET [HEADER...]): what nearly every source includes, and these, compiled once for TARGET.
function(tw_precompiled_headers target)
  target_include_directories(${target} SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/cmake)  # precompiled_json.h
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque> <filesystem> <fstream>
    <functional> <limits> <map> <memory> <mutex> <numeric> <optional> <set> <span> <sstream> <string> <string_view>
    <thread> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h> <precompiled_json.h> ${ARGN})
endfunction()

# The same once for all static libraries: tw_precompiled, and
# tw_precompiled_optimised, since g++ takes no precompiled header of another optimisation, and tw_precompiled_tests for test
# programs. Not where sources are edited: there each must include what it uses.
function(tw_precompile name)
  file(CONFIGURE OUTPUT precompiled.cc CONTENT "")
  add_library(${name} STATIC ${CMAKE_CURRENT_BINARY_DIR}/precompiled.cc)
  target_link_libraries(${name} PRIVATE fmt::fmt nlohmann_json::nlohmann_json tw_warnings)
  tw_precompiled_headers(${name})
endfunction()

if(TRAINWARDEN_UNITY)
  tw_precompile(tw_precompiled)
  tw_precompile(tw_precompiled_optimised)
  tw_optimise(tw_precompiled_optimised)
  if(TRAINWARDEN_DEVELOPER)
    tw_precompile(tw_precompiled_tests)
    tw_for_tests(tw_precompiled_tests)
    target_link_libraries(tw_precompiled_tests PRIVATE GTest::gtest)
    target_precompile_headers(tw_precompiled_tests PRIVATE <gtest/gtest.h>)
    # As programs are compiled.
    set_target_properties(tw_precompiled_tests PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(tw_precompiled_tests PRIVATE -fPIE)
  endif()
endif()

# Three of UndefinedBehaviorSanitizer's checks are a quarter of what it compiles: alignment, which goes wrong where bytes
# become values, so that it stays in the wings that do this; null, which AddressSanitizer sees as well; and vptr.
function(tw_check_bytes_only_where_they_are_read target)
  if(TRAINWARDEN_SANITIZE MATCHES "undefined" AND NOT CMAKE_CURRENT_SOURCE_DIR MATCHES "/src/(core|data|store)/")
    target_compile_options(${target} PRIVATE -fno-sanitize=alignment,null,vptr)
  endif()
endfunction()

# tw_compile_for_floor(TARGET [OPTIMISED] LINK ... PRECOMPILED ...): what a floor's library and its parts are compiled with.
function(tw_compile_for_floor target)
  cmake_parse_arguments(arg "OPTIMISED" "" "LINK;PRECOMPILED" ${ARGN})
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE ${arg_LINK} tw_warnings)
  set(precompiled tw_precompiled)
  if(arg_OPTIMISED)
    tw_optimise(${target})
    set(precompiled tw_precompiled_optimised)
  endif()
  tw_check_bytes_only_where_they_are_read(${target})
  if(TARGET ${precompiled} AND arg_PRECOMPILED)
    tw_precompiled_headers(${target} ${arg_PRECOMPILED})
  elseif(TARGET ${precompiled})
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
  endif()
endfunction()

# tw_floor(NAME [HOT] [TESTED_LONG] SOURCES ... [FLOORS ...] [LINK ...] [PRECOMPILED ...]): the static library tw_NAME of one floor, which
# links the floors that the table allows. Optimised more than others are HOT floors, and under sanitizers those whose
# tests compute for minutes, TESTED_LONG. FLOORS is for libraries that are not in the table, PRECOMPILED for headers that
# nearly all sources of this floor include, besides those of all floors.
# Links are PUBLIC between floors (headers include each other's) and PRIVATE for everything else.
function(tw_floor name)
  cmake_parse_arguments(arg "HOT;TESTED_LONG" "" "SOURCES;FLOORS;LINK;PRECOMPILED" ${ARGN})
  add_library(tw_${name} STATIC ${arg_SOURCES})
  if(NOT arg_FLOORS)
    set(arg_FLOORS ${tw_includes_${name}})
  endif()
  list(TRANSFORM arg_FLOORS PREPEND tw_)
  target_link_libraries(tw_${name} PUBLIC ${arg_FLOORS})
  set(optimised "")
  if((arg_HOT AND NOT TRAINWARDEN_SANITIZE) OR (arg_TESTED_LONG AND TRAINWARDEN_SANITIZE))
    set(optimised OPTIMISED)
  endif()
  tw_compile_for_floor(tw_${name} ${optimised} LINK ${arg_LINK} PRECOMPILED ${arg_PRECOMPILED})
  set_target_properties(tw_${name} PROPERTIES tw_compiled_with "${optimised};LINK;${arg_FLOORS};${arg_LINK}")
endfunction()

# tw_floor_part(FLOOR NAME SOURCES ...): a folder of a floor as a target of its own, tw_FLOOR_NAME, whose objects lie in
# the floor's library. In a unity build a change of one of its sources compiles the folder, and not the floor.
function(tw_floor_part floor name)
  cmake_parse_arguments(arg "" "" "SOURCES" ${ARGN})
  set(part tw_${floor}_${name})
  add_library(${part} OBJECT ${arg_SOURCES})
  get_target_property(compiled_with tw_${floor} tw_compiled_with)
  tw_compile_for_floor(${part} ${compiled_with})
  target_sources(tw_${floor} PRIVATE $<TARGET_OBJECTS:${part}>)
  set_property(TARGET tw_${floor} APPEND PROPERTY tw_parts ${part})
endfunction()

configure_file(${CMAKE_CURRENT_LIST_DIR}/test_paths.h.in ${PROJECT_BINARY_DIR}/test_paths/test_paths.h @ONLY)

# Whether the tests of the current folder are among those that TRAINWARDEN_TESTS asks for.
function(tw_wants_tests result)
  cmake_path(SET floors "${PROJECT_SOURCE_DIR}/src")
  cmake_path(IS_PREFIX floors "${CMAKE_CURRENT_SOURCE_DIR}" of_a_floor)
  if(TRAINWARDEN_TESTS STREQUAL "all" OR (of_a_floor AND TRAINWARDEN_TESTS STREQUAL "floors")
     OR (NOT of_a_floor AND TRAINWARDEN_TESTS STREQUAL "programs"))
    set(${result} ON PARENT_SCOPE)
  else()
    set(${result} OFF PARENT_SCOPE)
  endif()
endfunction()

# tw_apart(TARGET...): built on demand and with all tests. The gate, which has those of programs, builds what it runs.
function(tw_apart)
  if(NOT TRAINWARDEN_TESTS STREQUAL "all")
    set_target_properties(${ARGN} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# tw_tests(NAME [OPTIMISED] [EVERYWHERE | APART] [TOGETHER] SOURCES x_test.cc ... [LINK ...] [LABELS ...]): one test program
# NAME, each of its cases a CTest test. OPTIMISED is for those that compute for minutes: templates of the floors are taken from the
# test's object. EVERYWHERE: whichever tests TRAINWARDEN_TESTS asks for, since what it tests can fail in one build alone.
# APART: with all tests only, since tests of the program that it is a part of are in the gate.
# TOGETHER: all cases are one CTest test, for programs that take longer to start than most cases do: LibTorch takes 0.6 s of
# a CPU. The gate counts the cases all the same (scripts/test_report.py). So it is with all under sanitizers, whose
# programs take a quarter of a second to start.
# Without a label it is a "unit" test. The label "threads" also puts it among the programs that run under
# ThreadSanitizer (target tw_threads_tests). Under sanitizers TW_SANITIZED is defined, for what takes too long then.
function(tw_tests name)
  cmake_parse_arguments(arg "OPTIMISED;EVERYWHERE;APART;TOGETHER" "" "SOURCES;LINK;LABELS" ${ARGN})
  tw_wants_tests(wanted)
  if(arg_APART AND NOT TRAINWARDEN_TESTS STREQUAL "all")
    set(wanted OFF)
  endif()
  if(NOT TRAINWARDEN_DEVELOPER OR NOT (wanted OR arg_EVERYWHERE))
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} tw_warnings fmt::fmt GTest::gtest GTest::gtest_main Threads::Threads)
  target_include_directories(${name} PRIVATE ${PROJECT_BINARY_DIR}/test_paths)
  tw_for_tests(${name})
  if(arg_OPTIMISED)
    target_compile_options(${name} PRIVATE -O1)
  elseif(TARGET tw_precompiled_tests AND NOT arg_LINK MATCHES "torch")  # LibTorch's headers want other flags
    target_precompile_headers(${name} REUSE_FROM tw_precompiled_tests)
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  if(arg_TOGETHER OR TRAINWARDEN_SANITIZE)
    add_test(NAME ${name} COMMAND ${name} --gtest_output=xml:${PROJECT_BINARY_DIR}/cases/${name}.xml)
    set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900)
  else()
    gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 300)
  endif()
  if("threads" IN_LIST arg_LABELS)
    add_dependencies(tw_threads_tests ${name})
  endif()
endfunction()
