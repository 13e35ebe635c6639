#include "data/tensor/limbs.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace trainwarden {
namespace {

std::uint64_t limb_or_zero(const Limbs& limbs, std::size_t index) {
  return index < limbs.size() ? limbs[index] : 0;
}

// The upper 128 bits of a number: bits × 2^exponent, with the highest bit set. All 0 for zero.
struct Leading {
  UInt128 bits = 0;
  std::int64_t exponent = 0;
  bool more = false;  // there is something below
};

Leading leading_bits(const Magnitude& number) {
  std::size_t size = number.limbs.size();
  while (size > 0 && number.limbs[size - 1] == 0) --size;
  if (size == 0) return {};
  const auto limb = [&](std::size_t from_top) { return size > from_top ? number.limbs[size - 1 - from_top] : 0; };
  const int shift = std::countl_zero(limb(0));
  const UInt128 upper = (UInt128{limb(0)} << 64) | limb(1);
  const std::uint64_t third = limb(2);
  Leading leading;
  leading.bits = upper << shift;
  if (shift > 0) leading.bits |= third >> (64 - shift);
  leading.exponent = number.lowest_bit + 64 * (static_cast<std::int64_t>(size) - 2) - shift;
  leading.more = number.truncated || (third << shift) != 0;
  for (std::size_t i = 3; i < size && !leading.more; ++i) leading.more = limb(i) != 0;
  return leading;
}

// bits × 2^exponent, rounded; the highest bit is set. `more` says that the number is slightly larger.
double round(std::uint64_t bits, std::int64_t exponent, bool more) {
  constexpr std::int64_t kSmallestNormal = -1022;
  const std::int64_t top = exponent + 63;
  if (top > 1023) return std::numeric_limits<double>::infinity();
  // 53 bits stay of a normal number, fewer of a denormal one.
  const std::int64_t dropped = 11 + std::max<std::int64_t>(kSmallestNormal - top, 0);
  if (dropped > 64) return 0;
  std::uint64_t kept = dropped == 64 ? 0 : bits >> dropped;
  const std::uint64_t half = std::uint64_t{1} << (dropped - 1);
  const std::uint64_t rest = bits & (half | (half - 1));
  if (rest > half || (rest == half && (more || kept % 2 != 0))) ++kept;
  // A carry out of the mantissa moves into the exponent, as it should.
  const std::int64_t biased_exponent = std::max(top, kSmallestNormal) + 1022;
  return std::bit_cast<double>((static_cast<std::uint64_t>(biased_exponent) << 52) + kept);
}

std::uint64_t whole_root(UInt128 number) {
  std::uint64_t root = 0;
  for (std::uint64_t bit = std::uint64_t{1} << 63; bit != 0; bit >>= 1) {
    const std::uint64_t larger = root | bit;
    if (UInt128{larger} * larger <= number) root = larger;
  }
  return root;
}

}  // namespace

int compare(const Limbs& a, const Limbs& b) {
  for (std::size_t i = std::max(a.size(), b.size()); i-- > 0;) {
    const std::uint64_t left = limb_or_zero(a, i);
    const std::uint64_t right = limb_or_zero(b, i);
    if (left != right) return left < right ? -1 : 1;
  }
  return 0;
}

Limbs add(const Limbs& a, const Limbs& b) {
  Limbs sum(std::max(a.size(), b.size()) + 1);
  UInt128 carry = 0;
  for (std::size_t i = 0; i < sum.size(); ++i) {
    carry += UInt128{limb_or_zero(a, i)} + limb_or_zero(b, i);
    sum[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
  return sum;
}

Limbs subtract(const Limbs& larger, const Limbs& smaller) {
  Limbs difference(larger.size());
  std::uint64_t borrow = 0;
  for (std::size_t i = 0; i < larger.size(); ++i) {
    const UInt128 part = UInt128{larger[i]} - limb_or_zero(smaller, i) - borrow;
    difference[i] = static_cast<std::uint64_t>(part);
    borrow = static_cast<std::uint64_t>(part >> 64) != 0 ? 1 : 0;
  }
  return difference;
}

Limbs multiply(const Limbs& a, const Limbs& b) {
  Limbs product(a.size() + b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    UInt128 carry = 0;
    for (std::size_t j = 0; j < b.size(); ++j) {
      carry += UInt128{a[i]} * b[j] + product[i + j];
      product[i + j] = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
    product[i + b.size()] = static_cast<std::uint64_t>(carry);
  }
  return product;
}

std::uint64_t divide(Limbs& dividend, std::uint64_t divisor) {
  UInt128 remainder = 0;
  for (std::size_t i = dividend.size(); i-- > 0;) {
    remainder = (remainder << 64) | dividend[i];
    dividend[i] = static_cast<std::uint64_t>(remainder / divisor);
    remainder %= divisor;
  }
  return static_cast<std::uint64_t>(remainder);
}

Magnitude quotient(Magnitude number, std::uint64_t divisor, int times) {
  // Each division takes away up to 64 bits; two limbs more leave the 128 that are looked at.
  const int zeros = times + 2;
  number.limbs.insert(number.limbs.begin(), static_cast<std::size_t>(zeros), 0);
  number.lowest_bit -= 64 * zeros;
  for (int i = 0; i < times; ++i) {
    if (divide(number.limbs, divisor) != 0) number.truncated = true;
  }
  return number;
}

double to_double(const Magnitude& number) {
  const Leading leading = leading_bits(number);
  if (leading.bits == 0) return 0;
  const bool more = leading.more || static_cast<std::uint64_t>(leading.bits) != 0;
  return round(static_cast<std::uint64_t>(leading.bits >> 64), leading.exponent + 64, more);
}

double square_root(const Magnitude& number) {
  Leading leading = leading_bits(number);
  if (leading.bits == 0) return 0;
  if (leading.exponent % 2 != 0) {
    leading.more = leading.more || leading.bits % 2 != 0;
    leading.bits >>= 1;
    ++leading.exponent;
  }
  const std::uint64_t root = whole_root(leading.bits);
  return round(root, leading.exponent / 2, leading.more || UInt128{root} * root != leading.bits);
}

}  // namespace trainwarden
