# All that the build needs of others, and the Debian 12 package of each: what is missing is named at once, with the line
# that installs it, before anything fails for the lack of it. scripts/packages says what each is for; the test is
# tests/install/needs_test.cmake. Included before project(), which wants a compiler already.

# package, how it is found (CMake's package, pkg-config's module, a header), its name there, and for a module the name
# of its target: PkgConfig::NAME.
set(tw_needs
  "libfmt-dev package fmt"
  "nlohmann-json3-dev package nlohmann_json"
  "libcli11-dev package CLI11"
  "zlib1g-dev package ZLIB"
  "libpcre2-dev module libpcre2-8 PCRE2"
  "libzstd-dev module libzstd ZSTD"
  "libhwy-dev module libhwy HWY"
  "libsimdjson-dev module simdjson SIMDJSON"
  "libzip-dev module libzip LIBZIP"
  "libtomlplusplus-dev module tomlplusplus TOMLPLUSPLUS"
  "libcurl4-openssl-dev module libcurl LIBCURL"
  "libpugixml-dev module pugixml PUGIXML"
  "libssl-dev module libcrypto LIBCRYPTO"
  "libsqlite3-dev module sqlite3 SQLITE"
  "libpng-dev module libpng LIBPNG"
  "libdlpack-dev header dlpack/dlpack.h"
  "libeigen3-dev package Eigen3"
  "libboost1.81-dev header boost/beast/version.hpp")

# tw_name_missing(PACKAGE...): ends the build with what brings them.
function(tw_name_missing)
  list(JOIN ARGN " " packages)
  set(hint "")
  if("npm" IN_LIST ARGN)
    set(hint " Without npm: -D TRAINWARDEN_PAGE=OFF builds without the page.")
  endif()
  message(FATAL_ERROR "what the build needs is not there. Install it:\n"
                      "  apt-get install --no-install-recommends ${packages}\n"
                      "These are packages of Debian 12; elsewhere install their counterparts.${hint}")
endfunction()

# Without these two nothing else can be looked for: then everything is named.
find_program(tw_compiler NAMES c++ g++ clang++ NO_CACHE)
find_program(tw_pkg_config NAMES pkg-config pkgconf NO_CACHE)
if(NOT (tw_compiler OR CMAKE_CXX_COMPILER OR DEFINED ENV{CXX}) OR NOT (tw_pkg_config OR DEFINED ENV{PKG_CONFIG}))
  list(TRANSFORM tw_needs REPLACE " .*" "" OUTPUT_VARIABLE tw_packages)
  tw_name_missing(build-essential pkg-config python3-dev nodejs npm ${tw_packages})
endif()

# Finds one line of the table, which is a list now; whether it was found is in tw_found.
macro(tw_find package kind name)
  if(${kind} STREQUAL "package")
    find_package(${name} QUIET)
    set(tw_found ${${name}_FOUND})
  elseif(${kind} STREQUAL "module")
    pkg_check_modules(${ARGN} QUIET IMPORTED_TARGET ${name})
    set(tw_found ${${ARGN}_FOUND})
  else()
    string(MAKE_C_IDENTIFIER "TW_HAS_${name}" tw_has)
    check_include_file_cxx(${name} ${tw_has})
    set(tw_found ${${tw_has}})
  endif()
endmacro()

# Finds all of the table, and what the options want besides.
macro(tw_find_needs)
  find_package(PkgConfig REQUIRED)
  include(CheckIncludeFileCXX)
  set(tw_missing "")
  if(TRAINWARDEN_DEVELOPER)
    list(APPEND tw_needs "libgtest-dev package GTest")
  endif()
  if(TRAINWARDEN_TORCH OR TRAINWARDEN_FUZZ)
    list(APPEND tw_needs "libicu-dev module icu-uc ICU")  # trainers/bert
  endif()
  foreach(tw_need IN LISTS tw_needs)
    string(REPLACE " " ";" tw_need "${tw_need}")
    tw_find(${tw_need})
    if(NOT tw_found)
      list(GET tw_need 0 tw_package)
      list(APPEND tw_missing ${tw_package})
    endif()
  endforeach()
  if(TRAINWARDEN_PYTHON_PACKAGE)
    find_package(Python 3.9 QUIET COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
    if(NOT TARGET Python::Module)
      list(APPEND tw_missing python3-dev)
    endif()
  endif()
  if(TRAINWARDEN_PAGE)
    find_program(TRAINWARDEN_NPM npm)
    if(NOT TRAINWARDEN_NPM)
      list(APPEND tw_missing nodejs npm)
    endif()
  endif()
  if(tw_missing)
    tw_name_missing(${tw_missing})
  endif()
endmacro()
