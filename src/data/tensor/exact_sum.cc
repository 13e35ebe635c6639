#include "data/tensor/exact_sum.h"

#include <algorithm>

namespace trainwarden {
namespace {

Magnitude magnitude(const ExactSum& sum) {
  return {sum.limbs, std::int64_t{64} * sum.lowest_limb, false};
}

double with_sign(bool negative, double magnitude) {
  return negative ? -magnitude : magnitude;
}

// The limbs, with zeros below so that they start at `lowest_limb`, which is not above the sum's own.
Limbs aligned_limbs(const ExactSum& sum, std::int32_t lowest_limb) {
  Limbs limbs(sum.limbs.empty() ? 0 : static_cast<std::size_t>(sum.lowest_limb - lowest_limb));
  limbs.insert(limbs.end(), sum.limbs.begin(), sum.limbs.end());
  return limbs;
}

ExactSum product(const ExactSum& a, const ExactSum& b) {
  return make_exact_sum(a.negative != b.negative, a.lowest_limb + b.lowest_limb, multiply(a.limbs, b.limbs));
}

// count·Σx² − (Σx)², which Cauchy and Schwarz say is not negative; but sums that were rounded may be, by as much.
Magnitude variance_numerator(const ExactSum& sum, const ExactSum& square_sum, std::uint64_t count) {
  ExactSum numerator = product(sum, sum);
  numerator.negative = !numerator.limbs.empty();
  numerator.add(product(square_sum, make_exact_sum(false, 0, {count})));
  return numerator.negative ? Magnitude() : magnitude(numerator);
}

}  // namespace

ExactSum make_exact_sum(bool negative, std::int32_t lowest_limb, Limbs limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
  const auto first = std::find_if(limbs.begin(), limbs.end(), [](std::uint64_t limb) { return limb != 0; });
  if (first == limbs.end()) return {};
  lowest_limb += static_cast<std::int32_t>(first - limbs.begin());
  limbs.erase(limbs.begin(), first);
  return {negative, lowest_limb, std::move(limbs)};
}

double ExactSum::to_double() const {
  return with_sign(negative, trainwarden::to_double(magnitude(*this)));
}

void ExactSum::add(const ExactSum& other) {
  if (other.limbs.empty()) return;
  const std::int32_t lowest = limbs.empty() ? other.lowest_limb : std::min(lowest_limb, other.lowest_limb);
  const Limbs mine = aligned_limbs(*this, lowest);
  const Limbs others = aligned_limbs(other, lowest);
  if (negative == other.negative) {
    *this = make_exact_sum(negative, lowest, trainwarden::add(mine, others));
  } else if (compare(mine, others) >= 0) {
    *this = make_exact_sum(negative, lowest, subtract(mine, others));
  } else {
    *this = make_exact_sum(other.negative, lowest, subtract(others, mine));
  }
}

double exact_mean(const ExactSum& sum, std::uint64_t count) {
  return with_sign(sum.negative, to_double(quotient(magnitude(sum), count, 1)));
}

double exact_variance(const ExactSum& sum, const ExactSum& square_sum, std::uint64_t count) {
  return to_double(quotient(variance_numerator(sum, square_sum, count), count, 2));
}

double exact_deviation(const ExactSum& sum, const ExactSum& square_sum, std::uint64_t count) {
  return square_root(quotient(variance_numerator(sum, square_sum, count), count, 2));
}

double exact_square_root(const ExactSum& sum) {
  return square_root(magnitude(sum));
}

}  // namespace trainwarden
