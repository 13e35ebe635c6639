#include "trainwarden/given_statistics.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "data/tensor/exact_sum.h"

namespace trainwarden {
namespace {

// Where infinite sums go: past the range of doubles, also when divided by a count; that of squares also when its root
// is taken, and past the square of the others, so that the variance is infinite, too.
constexpr std::int32_t kInfiniteSum = 17;
constexpr std::int32_t kInfiniteSquareSum = 60;

Status bad_numbers(std::string message) {
  return Status(Code::kInvalidArgument, "statistics: " + std::move(message));
}

std::uint64_t component_count(const GivenStatistics& given) {
  return static_cast<std::uint64_t>(given.shape.element_count()) * (is_complex(given.dtype) ? 2 : 1);
}

Status check_counts(const GivenStatistics& given) {
  std::uint64_t left = component_count(given);
  for (const std::uint64_t part :
       {given.nan_count, given.positive_inf_count, given.negative_inf_count, given.zero_count}) {
    if (part > left) {
      return bad_numbers(fmt::format("{} NaN, {} and {} infinite and {} zero of {} elements", given.nan_count,
                                     given.positive_inf_count, given.negative_inf_count, given.zero_count,
                                     component_count(given)));
    }
    left -= part;
  }
  return Status();
}

Status check_limits(const GivenStatistics& given) {
  if (!std::isfinite(given.min) || !std::isfinite(given.max) || !std::isfinite(given.abs_min)) {
    return bad_numbers(
        fmt::format("min {}, max {} and abs_min {} are of finite elements", given.min, given.max, given.abs_min));
  }
  if (given.min > given.max) return bad_numbers(fmt::format("min {} is above max {}", given.min, given.max));
  if (given.abs_min >= 0 && given.abs_min <= std::min(std::abs(given.min), std::abs(given.max))) return Status();
  return bad_numbers(fmt::format("abs_min {} does not go with min {} and max {}", given.abs_min, given.min, given.max));
}

Status check_sums(const GivenStatistics& given) {
  const auto text = [&] {
    return fmt::format("sum {}, abs_sum {}, square_sum {}", given.sum, given.abs_sum, given.square_sum);
  };
  if (std::isnan(given.sum) || !(given.abs_sum >= 0) || !(given.square_sum >= 0)) return bad_numbers(text());
  const bool is_whole = (std::isfinite(given.sum) || std::isinf(given.abs_sum)) &&
                        (std::isfinite(given.abs_sum) || std::isinf(given.square_sum));
  return is_whole ? Status() : bad_numbers(text() + ": what is infinite is smaller than what is not");
}

// The double without rounding.
ExactSum sum_of(double number, std::int32_t place_of_infinity) {
  if (number == 0) return {};
  if (std::isinf(number)) return make_exact_sum(number < 0, place_of_infinity, {1});
  int exponent = 0;
  const double fraction = std::frexp(std::abs(number), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  const int lowest_bit = exponent - 53;
  const int limb = lowest_bit >= 0 ? lowest_bit / 64 : -((63 - lowest_bit) / 64);
  const int shift = lowest_bit - 64 * limb;
  Limbs limbs = {digits << shift, shift == 0 ? 0 : digits >> (64 - shift)};
  return make_exact_sum(number < 0, limb, std::move(limbs));
}

void take_finite(Statistics& statistics, const GivenStatistics& given) {
  statistics.min = given.min;
  statistics.max = given.max;
  statistics.abs_min = given.abs_min;
  statistics.abs_max = std::max(std::abs(given.min), std::abs(given.max));
  statistics.sum = sum_of(given.sum, kInfiniteSum);
  statistics.abs_sum = sum_of(given.abs_sum, kInfiniteSum);
  statistics.square_sum = sum_of(given.square_sum, kInfiniteSquareSum);
}

}  // namespace

Result<Statistics> approximate_statistics(const GivenStatistics& given) {
  if (given.dtype == DType::kString) return bad_numbers("texts have none");
  TRAINWARDEN_RETURN_IF_ERROR(check_counts(given));
  Statistics statistics;
  statistics.approximate = true;
  statistics.count = component_count(given);
  statistics.nan_count = given.nan_count;
  statistics.positive_inf_count = given.positive_inf_count;
  statistics.negative_inf_count = given.negative_inf_count;
  statistics.zero_count = given.zero_count;
  if (statistics.finite_count() == 0) return statistics;
  TRAINWARDEN_RETURN_IF_ERROR(check_limits(given));
  TRAINWARDEN_RETURN_IF_ERROR(check_sums(given));
  take_finite(statistics, given);
  return statistics;
}

}  // namespace trainwarden
