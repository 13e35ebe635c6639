#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <optional>
#include <span>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

#include "data/tensor/component_blocks.h"
#include "data/tensor/element_hash.h"
#include "data/tensor/float_conversion.h"
#include "data/tensor/float_summary.h"
#include "data/tensor/floating_point_scope.h"
#include "data/tensor/histogram_counter.h"
#include "data/tensor/scalar_summary.h"
#include "trainwarden/statistics.h"

namespace trainwarden {
namespace {

// Less than this is not worth a thread of its own.
constexpr std::int64_t kElementsForThread = std::int64_t{1} << 17;

// Types whose every value is a float32 are summed as such.
template <class T>
using SummaryOf = std::conditional_t<kIsExactInFloat<T>, FloatSummary,
                                     std::conditional_t<std::is_integral_v<T>, IntegerSummary<T>, DoubleSummary>>;

// To the nearest; a finite value past the range becomes the largest float, not infinity.
template <class T>
float nearest_float(T value) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if constexpr (std::is_same_v<T, double>) {
    if (std::isfinite(value)) value = std::clamp(value, -kLargest, kLargest);
  }
  return static_cast<float>(value);
}

// The block as float32: itself, or a copy in `buffer`.
template <class T>
const float* floats_of(DType dtype, std::span<const T> block, float* buffer) {
  if constexpr (std::is_same_v<T, float>) {
    return block.data();
  } else if constexpr (kIsExactInFloat<T>) {
    convert_to_floats(dtype, block.data(), block.size(), buffer);
    return buffer;
  } else {
    std::transform(block.begin(), block.end(), buffer, nearest_float<T>);
    return buffer;
  }
}

// Elements [first, first + count) of `view`, whose components are of type T.
template <class T>
Statistics summarize(const TensorView& view, std::int64_t first, std::int64_t count, const StatisticsOptions& options) {
  SummaryOf<T> summary;
  std::optional<HistogramCounter> histogram;
  if (options.histogram) histogram.emplace();
  Statistics statistics;
  alignas(64) float buffer[ComponentBlocks<T>::kBlock];
  ComponentBlocks<T> blocks(view, first, count);
  for (std::span<const T> block = blocks.next(); !block.empty(); block = blocks.next()) {
    statistics.count += block.size();
    if (options.hash) statistics.hash = append_hash(statistics.hash, block.data(), block.size(), sizeof(T));
    const float* floats = kIsExactInFloat<T> || options.histogram ? floats_of(view.dtype, block, buffer) : nullptr;
    if (histogram) histogram->add(floats, block.size());
    if constexpr (kIsExactInFloat<T>) {
      summary.add(floats, block.size());
    } else {
      summary.add(block.data(), block.size());
    }
  }
  summary.write_to(statistics);
  statistics.has_hash = options.hash;
  statistics.has_histogram = options.histogram;
  if (histogram) statistics.histogram = histogram->histogram();
  return statistics;
}

Statistics summarize_part(const TensorView& view, std::int64_t first, std::int64_t count,
                          const StatisticsOptions& options) {
  const FloatingPointScope scope;
  Statistics statistics;
  visit_component(view.dtype, [&]<class T>(T) { statistics = summarize<T>(view, first, count, options); });
  return statistics;
}

// A part of the elements, and its statistics once somebody had the memory to compute them.
struct Part {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::optional<Statistics> statistics;
};

std::vector<Part> split(std::int64_t count, std::int64_t part_count) {
  std::vector<Part> parts(static_cast<std::size_t>(part_count));
  std::int64_t first = 0;
  for (Part& part : parts) {
    part.first = first;
    part.count = (count - first) / part_count--;
    first += part.count;
  }
  return parts;
}

// Any split into parts gives the same result.
Statistics summarize_in_threads(const TensorView& view, std::int64_t thread_count, const StatisticsOptions& options) {
  std::vector<Part> parts = split(view.element_count(), thread_count);
  const auto compute = [&](Part& part) { part.statistics = summarize_part(view, part.first, part.count, options); };
  {
    std::vector<std::jthread> threads;
    try {
      for (Part& part : std::span(parts).subspan(1)) {
        threads.emplace_back([&compute, &part]() noexcept {
          try {
            compute(part);
          } catch (const std::bad_alloc&) {
            part.statistics.reset();
          }
        });
      }
    } catch (const std::system_error&) {
      // No more threads to be had: what they would have done is done here.
    }
    compute(parts[0]);
  }
  Statistics whole;
  for (Part& part : parts) {
    if (!part.statistics) compute(part);
    whole.merge(*part.statistics);
  }
  return whole;
}

}  // namespace

Result<Statistics> compute_statistics(const TensorView& view, const StatisticsOptions& options) {
  if (view.dtype == DType::kString) {
    return Status(Code::kInvalidArgument, "statistics of a string tensor; only numbers have statistics");
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_readable(view));
  const std::int64_t count = view.element_count();
  const std::int64_t thread_count =
      std::clamp<std::int64_t>(count / kElementsForThread, 1, std::max(options.threads, 1));
  try {
    return thread_count == 1 ? summarize_part(view, 0, count, options)
                             : summarize_in_threads(view, thread_count, options);
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "no memory for the statistics of a tensor");
  }
}

}  // namespace trainwarden
