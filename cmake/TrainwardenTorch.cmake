# LibTorch, for what is built of it here.
find_package(Torch REQUIRED)

set(tw_torch_options "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 15)
  set(tw_torch_options "SHELL:-include ${PROJECT_SOURCE_DIR}/adapters/libtorch/vector_for_clang.h")
  set_property(TARGET torch APPEND PROPERTY INTERFACE_COMPILE_OPTIONS ${tw_torch_options})
endif()

# tw_torch_headers_once(TARGET): reads LibTorch's headers once for all sources of TARGET.
function(tw_torch_headers_once target)
  target_precompile_headers(${target} PRIVATE <ATen/core/Tensor.h> <torch/nn/module.h> <torch/optim/optimizer.h>)
endfunction()

# tw_torch_headers_shared(TARGET): in a unity build, takes them from trainwarden_torch_parts and is compiled as that is.
function(tw_torch_headers_shared target)
  if(TRAINWARDEN_UNITY)
    tw_optimise(${target})
    target_compile_options(${target} PRIVATE -fPIC)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:trainwarden_torch_headers>)
    target_precompile_headers(${target} REUSE_FROM trainwarden_torch_parts)
  endif()
endfunction()
