#include "data/device/raw_statistics.h"

#include <array>
#include <bit>
#include <span>

#include "data/tensor/wide_sum.h"

namespace trainwarden::device {
namespace {

static_assert(static_cast<U32>(DType::kFloat16) == kKernelFloat16);
static_assert(static_cast<U32>(DType::kBFloat16) == kKernelBFloat16);
static_assert(static_cast<U32>(DType::kFloat32) == kKernelFloat32);

ExactSum exact(const U64 (&digits)[kSumDigits]) {
  std::array<std::int64_t, kSumDigits> chunks;
  for (std::size_t i = 0; i < chunks.size(); ++i) chunks[i] = static_cast<std::int64_t>(digits[i]);
  return exact_from_chunks(chunks, kLowestSumBit);
}

}  // namespace

bool kernel_reads(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kBFloat16 || dtype == DType::kFloat16;
}

std::uint64_t part_count(std::uint64_t element_count) {
  return (element_count + kPartElements - 1) / kPartElements;
}

Statistics to_statistics(const RawStatistics& raw, std::uint64_t element_count) {
  Statistics statistics;
  statistics.count = element_count;
  statistics.nan_count = raw.nan_count;
  statistics.positive_inf_count = raw.positive_inf_count;
  statistics.negative_inf_count = raw.negative_inf_count;
  statistics.zero_count = raw.zero_count;
  statistics.sum = exact(raw.sum);
  statistics.abs_sum = exact(raw.abs_sum);
  statistics.square_sum = exact(raw.square_sum);
  if (statistics.finite_count() == 0) return statistics;
  // Adding +0 turns -0 into it: which of the two came first must not show.
  statistics.min = static_cast<double>(value_of_rank(~raw.min_rank_not)) + 0.0;
  statistics.max = static_cast<double>(value_of_rank(raw.max_rank)) + 0.0;
  statistics.abs_min = raw.zero_count > 0 ? 0.0 : static_cast<double>(std::bit_cast<float>(~raw.abs_min_not));
  statistics.abs_max = static_cast<double>(std::bit_cast<float>(raw.abs_max));
  return statistics;
}

}  // namespace trainwarden::device
