#include "trainwarden/statistics.h"

#include <bit>
#include <cmath>

#include "data/tensor/element_hash.h"
#include "data/tensor/exact_sum.h"
#include "data/tensor/floating_point_scope.h"

namespace trainwarden {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool same(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

// Whether parts have something (a histogram, a hash) together: those with elements must, and at least one does.
bool both_have(const Statistics& a, bool a_has, const Statistics& b, bool b_has) {
  return (a_has || b_has) && (a_has || a.count == 0) && (b_has || b.count == 0);
}

// Σ of the elements in IEEE arithmetic, where infinities are among them.
double infinite_sum(const Statistics& s, bool abs) {
  if (abs || s.negative_inf_count == 0) return kInfinity;
  return s.positive_inf_count == 0 ? -kInfinity : kNan;
}

double infinite_min(const Statistics& s, bool abs) {
  if (!abs && s.negative_inf_count > 0) return -kInfinity;
  if (s.finite_count() == 0) return kInfinity;
  return abs ? s.abs_min : s.min;
}

double infinite_max(const Statistics& s, bool abs) {
  if (abs || s.positive_inf_count > 0) return kInfinity;
  return s.finite_count() == 0 ? -kInfinity : s.max;
}

double infinite_reduction(const Statistics& s, Reduction reduction, bool abs) {
  switch (reduction) {
    case Reduction::kMin: return infinite_min(s, abs);
    case Reduction::kMax: return infinite_max(s, abs);
    case Reduction::kSum:
    case Reduction::kMean: return infinite_sum(s, abs);
    case Reduction::kL1:
    case Reduction::kL2: return kInfinity;
    case Reduction::kStd:
    case Reduction::kVariance:
    case Reduction::kProd: return kNan;
  }
  return kNan;
}

double finite_reduction(const Statistics& s, Reduction reduction, bool abs) {
  switch (reduction) {
    case Reduction::kMin: return abs ? s.abs_min : s.min;
    case Reduction::kMax: return abs ? s.abs_max : s.max;
    case Reduction::kSum: return (abs ? s.abs_sum : s.sum).to_double();
    case Reduction::kMean: return abs ? s.abs_mean() : s.mean();
    case Reduction::kL1: return s.l1();
    case Reduction::kL2: return s.l2();
    case Reduction::kStd: return abs ? s.abs_deviation() : s.deviation();
    case Reduction::kVariance: return abs ? s.abs_variance() : s.variance();
    case Reduction::kProd: return kNan;
  }
  return kNan;
}

double empty_reduction(Reduction reduction) {
  const bool is_sum = reduction == Reduction::kSum || reduction == Reduction::kL1 || reduction == Reduction::kL2;
  return is_sum ? 0 : kNan;
}

}  // namespace

double Statistics::mean() const {
  return finite_count() == 0 ? kNan : exact_mean(sum, finite_count());
}

double Statistics::abs_mean() const {
  return finite_count() == 0 ? kNan : exact_mean(abs_sum, finite_count());
}

double Statistics::variance() const {
  return finite_count() == 0 ? kNan : exact_variance(sum, square_sum, finite_count());
}

double Statistics::abs_variance() const {
  return finite_count() == 0 ? kNan : exact_variance(abs_sum, square_sum, finite_count());
}

double Statistics::deviation() const {
  return finite_count() == 0 ? kNan : exact_deviation(sum, square_sum, finite_count());
}

double Statistics::abs_deviation() const {
  return finite_count() == 0 ? kNan : exact_deviation(abs_sum, square_sum, finite_count());
}

double Statistics::l1() const {
  return finite_count() == 0 ? kNan : abs_sum.to_double();
}

double Statistics::l2() const {
  return finite_count() == 0 ? kNan : exact_square_root(square_sum);
}

double Statistics::reduction(Reduction reduction, bool abs) const {
  if (count == 0) return empty_reduction(reduction);
  if (nan_count > 0) return kNan;
  return inf_count() > 0 ? infinite_reduction(*this, reduction, abs) : finite_reduction(*this, reduction, abs);
}

void Statistics::merge(const Statistics& next) {
  const FloatingPointScope scope;
  has_hash = both_have(*this, has_hash, next, next.has_hash);
  hash = has_hash ? join_hashes(hash, next.hash, next.count) : 0;
  has_histogram = both_have(*this, has_histogram, next, next.has_histogram);
  if (has_histogram) {
    histogram.merge(next.histogram);
  } else {
    histogram.bins.clear();
  }
  approximate = approximate || next.approximate;
  count += next.count;
  nan_count += next.nan_count;
  positive_inf_count += next.positive_inf_count;
  negative_inf_count += next.negative_inf_count;
  zero_count += next.zero_count;
  // fmin and fmax take the number where the other is NaN.
  min = std::fmin(min, next.min);
  max = std::fmax(max, next.max);
  abs_min = std::fmin(abs_min, next.abs_min);
  abs_max = std::fmax(abs_max, next.abs_max);
  sum.add(next.sum);
  abs_sum.add(next.abs_sum);
  square_sum.add(next.square_sum);
}

bool operator==(const Statistics& a, const Statistics& b) {
  return a.count == b.count && a.nan_count == b.nan_count && a.positive_inf_count == b.positive_inf_count &&
         a.negative_inf_count == b.negative_inf_count && a.zero_count == b.zero_count && same(a.min, b.min) &&
         same(a.max, b.max) && same(a.abs_min, b.abs_min) && same(a.abs_max, b.abs_max) && a.sum == b.sum &&
         a.abs_sum == b.abs_sum && a.square_sum == b.square_sum && a.has_histogram == b.has_histogram &&
         a.histogram == b.histogram && a.has_hash == b.has_hash && a.hash == b.hash && a.approximate == b.approximate;
}

}  // namespace trainwarden
