// From what the kernel gathers to Statistics, and which tensors it can read.
#pragma once

#include <cstdint>

#include "data/device/statistics_kernel.h"
#include "trainwarden/dtype.h"
#include "trainwarden/statistics.h"

namespace trainwarden::device {

// float32, bfloat16 and float16. The others are copied, and read by the CPU.
bool kernel_reads(DType dtype);

// How many warps a tensor of so many elements takes.
std::uint64_t part_count(std::uint64_t element_count);

// The same bits as compute_statistics on the same elements, without histogram and hash.
Statistics to_statistics(const RawStatistics& raw, std::uint64_t element_count);

}  // namespace trainwarden::device
