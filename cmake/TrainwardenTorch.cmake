# LibTorch, for what is built of it here.
find_package(Torch REQUIRED)

set(tw_torch_options "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  set(tw_torch_options "SHELL:-include ${PROJECT_SOURCE_DIR}/adapters/libtorch/vector_for_clang.h")
  set_property(TARGET torch APPEND PROPERTY INTERFACE_COMPILE_OPTIONS ${tw_torch_options})
endif()

# tw_torch_headers_once(TARGET): reads LibTorch's headers once for all sources of TARGET, where each is compiled by itself.
# In a unity build they are read once anyway.
function(tw_torch_headers_once target)
  if(NOT TRAINWARDEN_UNITY)
    target_precompile_headers(${target} PRIVATE <ATen/core/Tensor.h> <torch/nn/module.h> <torch/optim/optimizer.h>)
  endif()
endfunction()
