#include "data/tensor/wide_sum.h"

#include "data/tensor/limbs.h"

#include <algorithm>

namespace trainwarden {

void carry_chunks(std::span<std::int64_t> chunks) {
  std::int64_t carry = 0;
  for (std::int64_t& chunk : chunks.first(chunks.size() - 1)) {
    const std::int64_t total = chunk + carry;
    chunk = static_cast<std::uint32_t>(total);
    carry = total >> 32;
  }
  chunks.back() += carry;
}

ExactSum exact_from_chunks(std::span<const std::int64_t> chunks, int lowest_bit) {
  std::array<std::int64_t, kMaxChunks> copy;
  const std::span<std::int64_t> digits = std::span(copy).first(chunks.size());
  std::copy(chunks.begin(), chunks.end(), digits.begin());
  carry_chunks(digits);
  const bool negative = digits.back() < 0;
  if (negative) {
    for (std::int64_t& digit : digits) digit = -digit;
    carry_chunks(digits);
  }
  const auto is_set = [](std::int64_t digit) { return digit != 0; };
  const auto first_set = static_cast<std::size_t>(std::find_if(digits.begin(), digits.end(), is_set) - digits.begin());
  const auto past_set = static_cast<std::size_t>(digits.rend() - std::find_if(digits.rbegin(), digits.rend(), is_set));
  if (first_set == digits.size()) return {};
  const std::size_t first_limb = first_set / 2;
  Limbs limbs((past_set + 1) / 2 - first_limb);
  for (std::size_t i = first_set; i < past_set; ++i) {
    limbs[i / 2 - first_limb] |= static_cast<std::uint64_t>(digits[i]) << (32 * (i % 2));
  }
  return {negative, lowest_bit / 64 + static_cast<std::int32_t>(first_limb), std::move(limbs)};
}

}  // namespace trainwarden
