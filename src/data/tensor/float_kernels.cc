// How exact sums are had from floating-point adders.
//
// Take elements whose exponents lie in [f, E], at most c of them in one lane, c <= 2^k. As float32 they are multiples
// of 2^(f-23). A float64 accumulator that starts at 1.5·2^52 units stays in one binade, where one unit in the last
// place is one unit, as long as it moves by at most 2^51 units. So:
//
// - Σx and Σ|x|: the unit is 2^(f-23). |x| < 2^(E+1), so we ask for k + E + 1 <= 51 + f - 23, which is E - f <= 27 - k.
// - Σx², upper part: the unit is 2^q, q = 2E + 2 + k - 51. Adding x² (48 bits, exact in float64) to S rounds it to a
//   multiple d of the unit. t = S + x², d = t - S and e = x² - d: only the first of these rounds (Fast2Sum).
// - Σx², lower part: the sum of all e. |e| <= 2^(q-1), the unit is 2^(2f-46), and k + q - 1 <= 51 + 2f - 46 follows
//   from the first condition.
//
// The accumulator's bits minus those of its start are then the sum as an integer. Fused multiply-add gives the same
// bits as multiply and add, since x² is exact.
#include "data/tensor/float_kernels.h"

#include <algorithm>
#include <bit>

// Vectors are members of structs here, which SVE's vectors of unknown length cannot be; NEON serves in their place.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/tensor/float_kernels.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway asks.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trainwarden {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Words = hn::RebindToUnsigned<Floats>;
using Doubles = hn::ScalableTag<double>;
using Longs = hn::RebindToUnsigned<Doubles>;
using FloatVector = hn::Vec<Floats>;
using WordVector = hn::Vec<Words>;
using DoubleVector = hn::Vec<Doubles>;

constexpr std::uint32_t kInfinityBits = 0x7f800000;

// Fetches what will be wanted soon. The distance is measured. It is counted in addresses, since a pointer must not
// leave its array.
HWY_INLINE void prefetch_ahead(const float* at) {
  constexpr std::uintptr_t kDistanceBytes = 12 * 1024;
  hwy::Prefetch(reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(at) + kDistanceBytes));
}

// Calls body(pointer) for each `step` elements; the last, incomplete ones come from a copy that `padding` fills up.
template <class Body>
HWY_INLINE void for_each_step(const float* values, std::size_t count, std::size_t step, float padding, Body body) {
  std::size_t at = 0;
  for (; at + step <= count; at += step) body(values + at);
  if (at == count) return;
  HWY_ALIGN float last[2 * hn::MaxLanes(Floats())];
  std::fill(std::copy(values + at, values + count, last), last + step, padding);
  body(last);
}

struct Extremes {
  explicit HWY_INLINE Extremes(float value)
      : min(hn::Set(Floats(), value)),
        max(min),
        less_one_max(hn::Zero(Words())),
        less_one_min(hn::Set(Words(), 0xffffffffu)) {}

  // A magnitude of zero less one wraps to the largest number: it shows in the maximum and stays out of the minimum.
  HWY_INLINE void add(FloatVector x) {
    const Words d;
    const auto less_one = hn::Sub(hn::BitCast(d, hn::Abs(x)), hn::Set(d, 1));
    min = hn::Min(min, x);
    max = hn::Max(max, x);
    less_one_max = hn::Max(less_one_max, less_one);
    less_one_min = hn::Min(less_one_min, less_one);
  }

  HWY_INLINE void add(const Extremes& other) {
    min = hn::Min(min, other.min);
    max = hn::Max(max, other.max);
    less_one_max = hn::Max(less_one_max, other.less_one_max);
    less_one_min = hn::Min(less_one_min, other.less_one_min);
  }

  FloatVector min;
  FloatVector max;
  WordVector less_one_max;
  WordVector less_one_min;
};

// What the scan cannot say of a block with zeros: how many there are, and the largest magnitude.
void ScanZeros(const float* values, std::size_t count, FloatScan& scan) {
  const Floats d;
  const Words du;
  auto zero_counts = hn::Zero(du);
  auto abs_max = hn::Zero(du);
  for_each_step(values, count, hn::Lanes(d), values[0], [&](const float* at) HWY_ATTR {
    const auto magnitude = hn::BitCast(du, hn::Abs(hn::LoadU(d, at)));
    const auto is_zero = hn::Eq(magnitude, hn::Zero(du));
    zero_counts = hn::Sub(zero_counts, hn::VecFromMask(du, is_zero));
    abs_max = hn::Max(abs_max, magnitude);
  });
  const std::size_t padding = (hn::Lanes(d) - count % hn::Lanes(d)) % hn::Lanes(d);
  scan.zero_count = hn::GetLane(hn::SumOfLanes(du, zero_counts)) - (values[0] == 0 ? padding : 0);
  scan.abs_max = std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(du, abs_max)));
}

// By value, and inline: the accumulators of the loops before must stay in registers.
HWY_INLINE FloatScan scan_of(Extremes extremes, const float* values, std::size_t count) {
  const Floats d;
  const Words du;
  FloatScan scan;
  scan.min = hn::GetLane(hn::MinOfLanes(d, extremes.min));
  scan.max = hn::GetLane(hn::MaxOfLanes(d, extremes.max));
  scan.abs_min = std::bit_cast<float>(hn::GetLane(hn::MinOfLanes(du, extremes.less_one_min)) + 1);
  scan.abs_max = std::bit_cast<float>(hn::GetLane(hn::MaxOfLanes(du, extremes.less_one_max)) + 1);
  if (scan.abs_max == 0) ScanZeros(values, count, scan);
  scan.finite = std::bit_cast<std::uint32_t>(scan.abs_max) < kInfinityBits;
  return scan;
}

FloatScan Scan(const float* values, std::size_t count) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  Extremes a(values[0]);
  Extremes b(values[0]);
  for_each_step(values, count, 2 * lanes, values[0], [&](const float* at) HWY_ATTR {
    prefetch_ahead(at);
    prefetch_ahead(at + lanes);
    a.add(hn::LoadU(d, at));
    b.add(hn::LoadU(d, at + lanes));
  });
  a.add(b);
  return scan_of(a, values, count);
}

// 2^exponent, of a normal number.
double power(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

FloatWindow WindowBelow(float largest, std::size_t count) {
  const std::size_t in_one_lane = (count - 1) / hn::Lanes(Floats()) + 1;
  const int k = static_cast<int>(std::bit_width(in_one_lane - 1));
  // Denormal numbers have the exponent of the smallest normal ones.
  const int top = std::max(static_cast<int>(std::bit_cast<std::uint32_t>(largest) >> 23), 1) - 127;
  const int bottom = std::max(top - (27 - k), -126);
  FloatWindow window;
  window.floor = bottom == -126 ? 0.0f : static_cast<float>(power(bottom));
  window.ceiling = static_cast<float>(power(top + 1));
  window.unit = bottom - 23;
  window.square_high_unit = 2 * top + 2 + k - 51;
  window.square_low_unit = 2 * window.unit;
  return window;
}

float Split(const float* values, std::size_t count, float floor, float* high, float* low) {
  const Floats d;
  const std::size_t lanes = hn::Lanes(d);
  const auto floors = hn::Set(d, floor);
  auto low_max = hn::Zero(d);
  const auto split = [&](FloatVector x, float* to_high, float* to_low) HWY_ATTR {
    const auto is_low = hn::Lt(hn::Abs(x), floors);
    const auto low_part = hn::IfThenElseZero(is_low, x);
    low_max = hn::Max(low_max, hn::Abs(low_part));
    hn::StoreU(hn::IfThenZeroElse(is_low, x), d, to_high);
    hn::StoreU(low_part, d, to_low);
  };
  std::size_t at = 0;
  for (; at + lanes <= count; at += lanes) split(hn::LoadU(d, values + at), high + at, low + at);
  if (at < count) {
    HWY_ALIGN float last[2][hn::MaxLanes(Floats())] = {};
    std::copy(values + at, values + count, last[0]);
    split(hn::Load(d, last[0]), last[0], last[1]);
    std::copy_n(last[0], count - at, high + at);
    std::copy_n(last[1], count - at, low + at);
  }
  return hn::GetLane(hn::MaxOfLanes(d, low_max));
}

// Four sums in the lanes of vectors.
struct Accumulators {
  explicit HWY_INLINE Accumulators(const FloatWindow& window)
      : sum(start(window.unit)),
        abs_sum(sum),
        square_high(start(window.square_high_unit)),
        square_low(start(window.square_low_unit)) {}

  static HWY_INLINE DoubleVector start(int unit) { return hn::Set(Doubles(), 1.5 * power(unit + 52)); }

  HWY_INLINE void add(DoubleVector x) {
    sum = hn::Add(sum, x);
    abs_sum = hn::Add(abs_sum, hn::Abs(x));
    const auto next = hn::MulAdd(x, x, square_high);
    const auto rounded = hn::Sub(next, square_high);
    square_high = next;
    square_low = hn::Add(square_low, hn::MulSub(x, x, rounded));
  }

  DoubleVector sum;
  DoubleVector abs_sum;
  DoubleVector square_high;
  DoubleVector square_low;
};

// How many units two accumulators have moved since their start. Unsigned, so that the sums of a window that was guessed
// wrong, which nobody reads, may wrap around.
HWY_INLINE std::int64_t units_moved(DoubleVector a, DoubleVector b, int unit) {
  const Longs d;
  const auto start = hn::BitCast(d, Accumulators::start(unit));
  HWY_ALIGN std::uint64_t moved[hn::MaxLanes(Longs())];
  hn::Store(hn::Add(hn::Sub(hn::BitCast(d, a), start), hn::Sub(hn::BitCast(d, b), start)), d, moved);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < hn::Lanes(d); ++i) sum += moved[i];
  return static_cast<std::int64_t>(sum);
}

// Two vectors of accumulators, for the lower and the upper half of a vector of floats.
struct Summer {
  explicit HWY_INLINE Summer(const FloatWindow& w) : window(w), lower(w), upper(w) {}

  // As many as there are lanes of floats.
  HWY_INLINE void add(const float* values) {
    const Doubles d;
    const hn::Rebind<float, Doubles> half;
    lower.add(hn::PromoteTo(d, hn::LoadU(half, values)));
#if HWY_TARGET != HWY_SCALAR
    upper.add(hn::PromoteTo(d, hn::LoadU(half, values + hn::Lanes(d))));
#endif
  }

  HWY_INLINE FloatSums sums() const {
    FloatSums sums;
    sums.sum = units_moved(lower.sum, upper.sum, window.unit);
    sums.abs_sum = units_moved(lower.abs_sum, upper.abs_sum, window.unit);
    sums.square_high_sum = units_moved(lower.square_high, upper.square_high, window.square_high_unit);
    sums.square_low_sum = units_moved(lower.square_low, upper.square_low, window.square_low_unit);
    return sums;
  }

  const FloatWindow& window;
  Accumulators lower;
  Accumulators upper;
};

FloatSums Sum(const float* values, std::size_t count, const FloatWindow& window) {
  const Floats d;
  Summer summer(window);
  for_each_step(values, count, hn::Lanes(d), 0.0f, [&](const float* at) HWY_ATTR { summer.add(at); });
  return summer.sums();
}

FloatScan ScanAndSum(const float* values, const FloatWindow& window, FloatSums& sums) {
  const Floats d;
  Extremes extremes(values[0]);
  Summer summer(window);
  for (std::size_t at = 0; at < kFloatBlock; at += hn::Lanes(d)) {
    prefetch_ahead(values + at);
    const float* here = values + at;
    extremes.add(hn::LoadU(d, here));
    asm("" : "+r"(here));  // else clang 14 pieces the halves together from the whole, slowly, in place of two loads
    summer.add(here);
  }
  sums = summer.sums();
  return scan_of(extremes, values, kFloatBlock);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trainwarden
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trainwarden {
namespace {

HWY_EXPORT(Scan);
HWY_EXPORT(WindowBelow);
HWY_EXPORT(Split);
HWY_EXPORT(Sum);
HWY_EXPORT(ScanAndSum);

}  // namespace

FloatScan scan_floats(const float* values, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(Scan)(values, count);
}

FloatWindow window_below(float largest, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(WindowBelow)(largest, count);
}

float split_floats(const float* values, std::size_t count, float floor, float* high, float* low) {
  return HWY_DYNAMIC_DISPATCH(Split)(values, count, floor, high, low);
}

FloatSums sum_floats(const float* values, std::size_t count, const FloatWindow& window) {
  return HWY_DYNAMIC_DISPATCH(Sum)(values, count, window);
}

FloatScan scan_and_sum_block(const float* values, const FloatWindow& window, FloatSums& sums) {
  return HWY_DYNAMIC_DISPATCH(ScanAndSum)(values, window, sums);
}

}  // namespace trainwarden
#endif  // HWY_ONCE
