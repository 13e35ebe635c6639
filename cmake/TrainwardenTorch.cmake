# LibTorch, for what is built of it here.
find_package(Torch REQUIRED)

set(tw_torch_options "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  set(tw_torch_options "SHELL:-include ${PROJECT_SOURCE_DIR}/adapters/libtorch/vector_for_clang.h")
  set_property(TARGET torch APPEND PROPERTY INTERFACE_COMPILE_OPTIONS ${tw_torch_options})
endif()
