// NVRTC, NVIDIA's compiler as a library, found at run time.
#pragma once

#include <string>

#include "trainwarden/status.h"

namespace trainwarden::device {

// Machine code for GPUs of this compute capability (8, 0: "sm_80"), as the driver loads it. NVRTC is looked for where
// TRAINWARDEN_NVRTC points, then as the linker finds it, then beside the CUDA runtime that the process has loaded, as
// PyTorch's wheels lay it. kUnavailable: there is none; kInternal: the text does not compile, with the compiler's
// words.
Result<std::string> compile_for_gpu(const char* text, int major, int minor);

}  // namespace trainwarden::device
