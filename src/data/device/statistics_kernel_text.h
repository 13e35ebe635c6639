// The text of statistics_kernel.h and what it needs, for the compiler that meets the GPU at run time.
#pragma once

namespace trainwarden::device {

extern const char kStatisticsKernelText[];

}  // namespace trainwarden::device
