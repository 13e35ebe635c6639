#include "read/upkeep/value_difference.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::upkeep {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr std::size_t kElementsAtOnce = 1 << 16;

bool is_close(double distance, double a, double b, double size_of_b, const Tolerance& tolerance) {
  if (a == b) return true;
  if (std::isnan(a) || std::isnan(b)) return tolerance.equal_nan && std::isnan(a) && std::isnan(b);
  if (std::isinf(a) || std::isinf(b)) return false;
  return distance <= tolerance.atol + tolerance.rtol * size_of_b;
}

// Takes pairs of elements one by one.
class DifferenceTally {
 public:
  void skip(std::uint64_t elements) { difference_.elements += elements; }
  void add_same() { ++difference_.elements; }

  void add_differing(double distance, double a, double b, double size_of_b, std::uint64_t ulp) {
    const double apart = std::isfinite(distance) ? distance : kInfinite;
    if (difference_.differing++ == 0) {
      difference_.first = static_cast<std::int64_t>(difference_.elements);
      difference_.a = a;
      difference_.b = b;
    }
    ++difference_.elements;
    if (apart > difference_.max_abs) {
      difference_.max_abs = apart;
      difference_.a = a;
      difference_.b = b;
    }
    // Bits that stand for the same number, as 0 and -0, are no distance apart.
    const double relative = apart == 0 ? 0 : std::isfinite(apart) && size_of_b > 0 ? apart / size_of_b : kInfinite;
    difference_.max_rel = std::max(difference_.max_rel, relative);
    difference_.max_ulp = std::max(difference_.max_ulp, ulp);
  }

  ValueDifference take() && { return std::move(difference_); }

 private:
  ValueDifference difference_;
};

// Floating-point bits as a number that rises with the value, so that a difference counts the numbers between.
std::int64_t rising(std::uint64_t bits, int width) {
  const std::uint64_t sign = std::uint64_t{1} << (width - 1);
  const auto magnitude = static_cast<std::int64_t>(bits & (sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

std::uint64_t bits_at(const std::byte* data, std::size_t bytes) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, data, bytes);
  return bits;
}

std::uint64_t ulp_between(const std::byte* a, const std::byte* b, std::size_t bytes, double value_a, double value_b) {
  if (std::isnan(value_a) || std::isnan(value_b)) return 0;
  const int width = static_cast<int>(8 * bytes);
  const std::int64_t left = rising(bits_at(a, bytes), width);
  const std::int64_t right = rising(bits_at(b, bytes), width);
  const auto high = static_cast<std::uint64_t>(std::max(left, right));
  return high - static_cast<std::uint64_t>(std::min(left, right));
}

// Integers of 64 bits are not all doubles: their distance is counted before it is rounded.
double integer_distance(const std::byte* a, const std::byte* b, bool is_signed) {
  const std::uint64_t left = bits_at(a, 8);
  const std::uint64_t right = bits_at(b, 8);
  const bool left_is_less =
      is_signed ? static_cast<std::int64_t>(left) < static_cast<std::int64_t>(right) : left < right;
  return static_cast<double>(left_is_less ? right - left : left - right);
}

// A few elements of a tensor, as numbers.
struct ElementBlock {
  ElementBlock(const TensorValue& value, std::size_t first, std::size_t count) {
    const std::size_t bytes = item_bytes(value.dtype);
    data = value.data.data() + first * bytes;
    TensorValue part;
    part.dtype = value.dtype;
    part.shape = Shape{static_cast<std::int64_t>(count)};
    if (is_complex(value.dtype)) {  // as the two parts that it has
      part.dtype = value.dtype == DType::kComplex64 ? DType::kFloat32 : DType::kFloat64;
      part.shape = Shape{static_cast<std::int64_t>(2 * count)};
    }
    part.data.assign(data, data + count * bytes);
    numbers = part.to_doubles();
  }
  const std::byte* data;
  std::vector<double> numbers;
};

class BlockComparer {
 public:
  BlockComparer(DType a, DType b, const Tolerance& tolerance)
      : dtype_a_(a), dtype_b_(b), tolerance_(tolerance), parts_(is_complex(a) ? 2 : 1) {}

  void compare(const ElementBlock& a, const ElementBlock& b, std::size_t count, DifferenceTally& tally) const {
    for (std::size_t i = 0; i < count; ++i) compare_element(a, b, i, tally);
  }

 private:
  void compare_element(const ElementBlock& a, const ElementBlock& b, std::size_t i, DifferenceTally& tally) const {
    const std::byte* const left = a.data + i * item_bytes(dtype_a_);
    const std::byte* const right = b.data + i * item_bytes(dtype_b_);
    const bool same_type = dtype_a_ == dtype_b_;
    if (tolerance_.exact() && std::memcmp(left, right, item_bytes(dtype_a_)) == 0) return tally.add_same();
    if (parts_ == 2) return compare_complex(a, b, i, left, right, tally);
    const double x = a.numbers[i];
    const double y = b.numbers[i];
    const bool is_wide = same_type && (dtype_a_ == DType::kInt64 || dtype_a_ == DType::kUInt64);
    const double distance = is_wide ? integer_distance(left, right, dtype_a_ == DType::kInt64) : std::abs(x - y);
    const bool is_same = is_wide ? distance <= tolerance_.atol + tolerance_.rtol * std::abs(y)
                                 : is_close(distance, x, y, std::abs(y), tolerance_);
    if (!tolerance_.exact() && is_same) return tally.add_same();
    const bool has_ulp = same_type && is_floating_point(dtype_a_);
    tally.add_differing(distance, x, y, std::abs(y),
                        has_ulp ? ulp_between(left, right, item_bytes(dtype_a_), x, y) : 0);
  }

  void compare_complex(const ElementBlock& a, const ElementBlock& b, std::size_t i, const std::byte* left,
                       const std::byte* right, DifferenceTally& tally) const {
    const std::array<double, 2> x = {a.numbers[2 * i], a.numbers[2 * i + 1]};
    const std::array<double, 2> y = {b.numbers[2 * i], b.numbers[2 * i + 1]};
    const double distance = std::hypot(x[0] - y[0], x[1] - y[1]);
    const double size = std::hypot(y[0], y[1]);
    const auto is_nan = [](const std::array<double, 2>& z) { return std::isnan(z[0]) || std::isnan(z[1]); };
    const bool both_nan = is_nan(x) && is_nan(y);
    const bool is_same = x == y || (tolerance_.equal_nan && both_nan) ||
                         (std::isfinite(distance) && distance <= tolerance_.atol + tolerance_.rtol * size);
    if (!tolerance_.exact() && is_same) return tally.add_same();
    std::uint64_t ulp = 0;
    const std::size_t bytes = item_bytes(dtype_a_) / 2;
    for (std::size_t part = 0; part < 2 && dtype_a_ == dtype_b_; ++part) {
      ulp = std::max(ulp, ulp_between(left + part * bytes, right + part * bytes, bytes, x[part], y[part]));
    }
    const std::size_t worse = std::abs(x[1] - y[1]) > std::abs(x[0] - y[0]) ? 1 : 0;
    tally.add_differing(distance, x[worse], y[worse], size, ulp);
  }

  const DType dtype_a_;
  const DType dtype_b_;
  const Tolerance& tolerance_;
  const std::size_t parts_;
};

ValueDifference compare_texts(const TensorValue& a, const TensorValue& b) {
  ValueDifference difference;
  difference.elements = a.strings.size();
  for (std::size_t i = 0; i < std::min(a.strings.size(), b.strings.size()); ++i) {
    if (a.strings[i] == b.strings[i]) continue;
    if (difference.differing++ == 0) difference.first = static_cast<std::int64_t>(i);
  }
  if (difference.differing > 0) difference.what = "texts";
  return difference;
}

ValueDifference in_words(std::string what) {
  ValueDifference difference;
  difference.what = std::move(what);
  return difference;
}

// May the elements be the same without a look at each?
bool same_bytes(const TensorValue& a, const TensorValue& b, std::size_t offset, std::size_t bytes,
                const Tolerance& tolerance) {
  if (a.dtype != b.dtype) return false;
  const bool may_have_nan = is_floating_point(a.dtype) || is_complex(a.dtype);
  if (!tolerance.exact() && may_have_nan && !tolerance.equal_nan) return false;
  return bytes == 0 || std::memcmp(a.data.data() + offset, b.data.data() + offset, bytes) == 0;
}

// Sums of float32 of many elements, added one after the other, keep about three digits.
constexpr double kRoundedSums = 1e-3;
// Whole numbers in float32 are exact up to 2^24.
constexpr double kRoundedCounts = 1.0 / (1 << 23);

struct RoundedPair {
  const char* quantity;
  double a;
  double b;
  double size;  // what rounding is measured by
};

ValueDifference compare_rounded(const RoundedPair& pair, double rtol, double atol) {
  DifferenceTally tally;
  if (is_close(std::abs(pair.a - pair.b), pair.a, pair.b, pair.size, {rtol, atol, true})) {
    tally.add_same();
  } else {
    tally.add_differing(std::abs(pair.a - pair.b), pair.a, pair.b, std::abs(pair.b), 0);
  }
  ValueDifference one = std::move(tally).take();
  if (one.differs()) one.what = pair.quantity;
  return one;
}

double count_of(std::uint64_t count) {
  return static_cast<double>(count);
}

// The means of an exact and a rounded sum are as far apart as the sums, which are rounded by what was added.
ValueDifference compare_approximate(const Statistics& a, const Statistics& b, const Tolerance& tolerance) {
  const auto count = [](const char* quantity, std::uint64_t x, std::uint64_t y) {
    return RoundedPair{quantity, count_of(x), count_of(y), count_of(std::max(x, y))};
  };
  const double added = std::max(a.abs_mean(), b.abs_mean());
  const double largest = std::max(a.abs_max, b.abs_max);
  const std::array counts = {count("nan_count", a.nan_count, b.nan_count),
                             count("positive_inf_count", a.positive_inf_count, b.positive_inf_count),
                             count("negative_inf_count", a.negative_inf_count, b.negative_inf_count)};
  const std::array numbers = {RoundedPair{"min", a.min, b.min, largest}, RoundedPair{"max", a.max, b.max, largest},
                              RoundedPair{"mean", a.mean(), b.mean(), added},
                              RoundedPair{"l1", a.l1(), b.l1(), std::max(a.l1(), b.l1())},
                              RoundedPair{"l2", a.l2(), b.l2(), std::max(a.l2(), b.l2())}};
  ValueDifference difference;
  if (a.count != b.count) difference = in_words(fmt::format("count {} and {}", a.count, b.count));
  for (const RoundedPair& pair : counts) {
    if (!difference.differs()) difference = compare_rounded(pair, kRoundedCounts, 0);
  }
  for (const RoundedPair& pair : numbers) {
    if (!difference.differs()) {
      difference = compare_rounded(pair, std::max(tolerance.rtol, kRoundedSums), tolerance.atol);
    }
  }
  difference.approximate = true;
  return difference;
}

}  // namespace

ValueDifference compare_values(const TensorValue& a, const TensorValue& b, const Tolerance& tolerance) {
  if (a.shape != b.shape) return in_words(fmt::format("shape {} and {}", a.shape.to_string(), b.shape.to_string()));
  const bool other_kind =
      is_complex(a.dtype) != is_complex(b.dtype) || (a.dtype == DType::kString) != (b.dtype == DType::kString);
  if (a.dtype != b.dtype && (tolerance.exact() || other_kind)) {
    return in_words(fmt::format("dtype {} and {}", name(a.dtype), name(b.dtype)));
  }
  if (a.dtype == DType::kString) return compare_texts(a, b);
  const auto count = static_cast<std::size_t>(a.shape.element_count());
  const BlockComparer comparer(a.dtype, b.dtype, tolerance);
  DifferenceTally tally;
  for (std::size_t first = 0; first < count; first += kElementsAtOnce) {
    const std::size_t part = std::min(kElementsAtOnce, count - first);
    const std::size_t bytes = item_bytes(a.dtype);
    if (same_bytes(a, b, first * bytes, part * bytes, tolerance)) {
      tally.skip(part);
    } else {
      comparer.compare(ElementBlock(a, first, part), ElementBlock(b, first, part), part, tally);
    }
  }
  return std::move(tally).take();
}

ValueDifference compare_numbers(double a, double b, const Tolerance& tolerance) {
  DifferenceTally tally;
  const auto left = std::bit_cast<std::array<std::byte, 8>>(a);
  const auto right = std::bit_cast<std::array<std::byte, 8>>(b);
  const double distance = std::abs(a - b);
  const bool same = tolerance.exact() ? left == right : is_close(distance, a, b, std::abs(b), tolerance);
  if (same) {
    tally.add_same();
  } else {
    tally.add_differing(distance, a, b, std::abs(b), ulp_between(left.data(), right.data(), 8, a, b));
  }
  return std::move(tally).take();
}

ValueDifference compare_statistics(const Statistics& a, const Statistics& b, const Tolerance& tolerance) {
  if (a.approximate || b.approximate) return compare_approximate(a, b, tolerance);
  const std::array<std::pair<const char*, std::array<std::uint64_t, 2>>, 4> counts = {
      {{"count", {a.count, b.count}},
       {"nan_count", {a.nan_count, b.nan_count}},
       {"positive_inf_count", {a.positive_inf_count, b.positive_inf_count}},
       {"negative_inf_count", {a.negative_inf_count, b.negative_inf_count}}}};
  for (const auto& [quantity, pair] : counts) {
    if (pair[0] != pair[1]) return in_words(fmt::format("{} {} and {}", quantity, pair[0], pair[1]));
  }
  const std::array<std::pair<const char*, std::array<double, 2>>, 7> numbers = {
      {{"min", {a.min, b.min}},
       {"max", {a.max, b.max}},
       {"abs_max", {a.abs_max, b.abs_max}},
       {"mean", {a.mean(), b.mean()}},
       {"std", {a.deviation(), b.deviation()}},
       {"l1", {a.l1(), b.l1()}},
       {"l2", {a.l2(), b.l2()}}}};
  // NaN stands for no finite elements here, of which both have as many.
  const Tolerance numeric{tolerance.rtol, tolerance.atol, true};
  DifferenceTally tally;
  for (const auto& [quantity, pair] : numbers) {
    const ValueDifference one = compare_numbers(pair[0], pair[1], numeric);
    if (one.differs() && !(std::isnan(pair[0]) && std::isnan(pair[1]))) {
      tally.add_differing(one.max_abs, pair[0], pair[1], std::abs(pair[1]), one.max_ulp);
    } else {
      tally.add_same();
    }
  }
  ValueDifference difference = std::move(tally).take();
  if (difference.differing > 0) {
    difference.what = numbers[static_cast<std::size_t>(difference.first)].first;
    return difference;
  }
  if (!tolerance.exact()) return difference;
  if (a.zero_count != b.zero_count) return in_words(fmt::format("zero_count {} and {}", a.zero_count, b.zero_count));
  if (a.sum != b.sum || a.abs_sum != b.abs_sum || a.square_sum != b.square_sum) return in_words("sums");
  if (a.has_hash && b.has_hash && a.hash != b.hash) return in_words("hash");
  if (a.has_histogram && b.has_histogram && a.histogram != b.histogram) return in_words("histogram");
  return difference;
}

}  // namespace trainwarden::upkeep
