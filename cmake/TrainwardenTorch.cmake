# LibTorch, for what is built of it here.
set(TRAINWARDEN_TORCH_WHEEL "" CACHE PATH
    "The folder torch of an installed PyTorch package, to build on its LibTorch")
# CUDA's own headers are wanted for NCCL alone: a toolkit's, or those of wheels beside PyTorch, with nvidia-cuda-crt.
option(TRAINWARDEN_CUDA "Use the CUDA of TRAINWARDEN_TORCH_WHEEL, and NCCL in the BERT trainer" OFF)

# What CMake's package would give, of a PyTorch package. Its own asks for a CUDA toolkit where it was built with one.
macro(tw_torch_of_wheel)
  find_library(tw_torch_cpu torch_cpu PATHS ${TRAINWARDEN_TORCH_WHEEL}/lib NO_DEFAULT_PATH REQUIRED)
  find_library(tw_c10 c10 PATHS ${TRAINWARDEN_TORCH_WHEEL}/lib NO_DEFAULT_PATH REQUIRED)
  set(TORCH_INCLUDE_DIRS ${TRAINWARDEN_TORCH_WHEEL}/include ${TRAINWARDEN_TORCH_WHEEL}/include/torch/csrc/api/include)
  if(NOT TARGET torch)
    add_library(torch INTERFACE IMPORTED)
    target_include_directories(torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
    target_link_libraries(torch INTERFACE ${tw_torch_cpu} ${tw_c10})
  endif()
endmacro()

# Its libraries for CUDA, which register themselves and of which no symbol is asked for; and headers of CUDA and NCCL.
macro(tw_cuda_of_wheel)
  set(tw_cuda_wheels ${TRAINWARDEN_TORCH_WHEEL}/../nvidia)
  find_library(tw_torch_cuda torch_cuda PATHS ${TRAINWARDEN_TORCH_WHEEL}/lib NO_DEFAULT_PATH REQUIRED)
  find_library(tw_c10_cuda c10_cuda PATHS ${TRAINWARDEN_TORCH_WHEEL}/lib NO_DEFAULT_PATH REQUIRED)
  find_path(TRAINWARDEN_CUDA_INCLUDE crt/host_config.h  # PyTorch's own wheels have all headers but those in crt
            PATHS /usr/local/cuda/include ${tw_cuda_wheels}/cu13/include REQUIRED)
  find_path(TRAINWARDEN_NCCL_INCLUDE nccl.h PATHS ${tw_cuda_wheels}/nccl/include REQUIRED)
  target_include_directories(torch SYSTEM INTERFACE ${TRAINWARDEN_CUDA_INCLUDE} ${TRAINWARDEN_NCCL_INCLUDE})
  target_link_libraries(torch INTERFACE -Wl,--no-as-needed ${tw_torch_cuda} ${tw_c10_cuda} -Wl,--as-needed)
  target_link_options(torch INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs)
endmacro()

if(TRAINWARDEN_TORCH_WHEEL)
  tw_torch_of_wheel()
  if(TRAINWARDEN_CUDA)
    tw_cuda_of_wheel()
  endif()
else()
  find_package(Torch REQUIRED)
endif()

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
