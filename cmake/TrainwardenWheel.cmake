# The wheel alone, for one Python: its core and its program, linked from the floors of another build folder
# (TRAINWARDEN_WHEEL_PARTS), with all that they load but the C library and libgcc_s, which comes with it. ./dev wheel
# (scripts/wheel.sh) does this for each Python, so that each compiles the core's own sources only.
set(TRAINWARDEN_STATIC_LIBRARIES "" CACHE PATH "Where lib/*.a lie of what Debian has no static libraries of")
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)

# tw_static(TARGET ARCHIVE...): stands for what the floors link, by the name that they link it by.
function(tw_static target)
  foreach(archive IN LISTS ARGN)
    find_library(path NAMES ${archive} HINTS ${TRAINWARDEN_STATIC_LIBRARIES}/lib REQUIRED NO_CACHE)
    list(APPEND archives ${path})
    unset(path)
  endforeach()
  add_library(${target} INTERFACE IMPORTED)
  target_link_libraries(${target} INTERFACE ${archives})
endfunction()

tw_static(fmt::fmt libfmt.a)
tw_static(ZLIB::ZLIB libz.a)
tw_static(PkgConfig::ZSTD libzstd.a)
tw_static(PkgConfig::PCRE2 libpcre2-8.a)
tw_static(PkgConfig::HWY libhwy.a)
tw_static(PkgConfig::SIMDJSON libsimdjson.a)
tw_static(PkgConfig::PUGIXML libpugixml.a)
tw_static(PkgConfig::SQLITE libsqlite3.a)
tw_static(PkgConfig::LIBCRYPTO libcrypto.a)
tw_static(PkgConfig::LIBCURL libcurl.a libssl.a libcrypto.a)
add_library(Eigen3::Eigen INTERFACE IMPORTED)  # headers alone

include(${TRAINWARDEN_WHEEL_PARTS}/TrainwardenWheelParts.cmake)
foreach(floor IN LISTS tw_floors)
  add_library(tw_${floor} ALIAS Built::tw_${floor})
endforeach()
if(EXISTS ${TRAINWARDEN_WHEEL_PARTS}/web/notebook)
  add_custom_target(tw_notebook_page)  # tw_wheel_parts has made it
  set_target_properties(tw_notebook_page PROPERTIES folder ${TRAINWARDEN_WHEEL_PARTS}/web/notebook)
endif()

add_link_options(-static-libstdc++ -s LINKER:--gc-sections)
add_library(tw_older_glibc OBJECT adapters/python/core/older_glibc.cc)
target_link_libraries(tw_older_glibc PRIVATE tw_warnings)
add_executable(trainwarden src/ui/cli/main.cc)
target_link_libraries(trainwarden PRIVATE tw_cli tw_older_glibc tw_warnings)
add_subdirectory(adapters/python)
target_link_libraries(trainwarden_core PRIVATE tw_older_glibc)
target_link_libraries(trainwarden_buckets PRIVATE tw_older_glibc)

# Whose code is in it, and under which licences.
foreach(package libfmt-dev zlib1g-dev libzstd-dev libpcre2-dev libhwy-dev libsimdjson-dev libpugixml-dev libssl-dev libcurl4-openssl-dev
                libsqlite3-dev libeigen3-dev nlohmann-json3-dev libcli11-dev libtomlplusplus-dev gcc-12-base)
  install(FILES /usr/share/doc/${package}/copyright DESTINATION trainwarden/licences RENAME ${package}.txt
          COMPONENT python EXCLUDE_FROM_ALL OPTIONAL)
endforeach()
