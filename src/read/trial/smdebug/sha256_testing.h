// SHA-256 (FIPS 180-4), for comparing with what other programs have computed. For tests.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "core/base/bytes.h"

namespace trainwarden {

// The first 32 bits of the fraction of a root of each prime.
template <std::size_t count, class Root>
std::array<std::uint32_t, count> root_fractions(Root root) {
  std::array<std::uint32_t, count> fractions{};
  std::size_t found = 0;
  for (std::uint32_t n = 2; found < count; ++n) {
    bool prime = true;
    for (std::uint32_t d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (!prime) continue;
    const long double value = root(static_cast<long double>(n));
    fractions[found++] = static_cast<std::uint32_t>((value - std::floor(value)) * 4294967296.0L);
  }
  return fractions;
}

inline void sha256_block(std::array<std::uint32_t, 8>& hash, const unsigned char* block) {
  static const auto kConstants = root_fractions<64>([](long double n) { return std::cbrt(n); });
  std::array<std::uint32_t, 64> w{};
  for (std::size_t i = 0; i < 16; ++i) {
    for (std::size_t byte = 0; byte < 4; ++byte) w[i] = w[i] << 8 | block[4 * i + byte];
  }
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
    const std::uint32_t b = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + a + w[i - 7] + b;
  }
  auto [a, b, c, d, e, f, g, h] = hash;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
    const std::uint32_t t1 = h + sum1 + ((e & f) ^ (~e & g)) + kConstants[i] + w[i];
    const std::uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
    const std::uint32_t t2 = sum0 + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const std::array<std::uint32_t, 8> added = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < 8; ++i) hash[i] += added[i];
}

// In hexadecimal digits.
inline std::string sha256(ByteSpan bytes) {
  std::string message(as_text(bytes));
  const std::uint64_t bits = message.size() * 8;
  message += '\x80';
  while (message.size() % 64 != 56) message += '\0';
  for (int shift = 56; shift >= 0; shift -= 8) message += static_cast<char>(bits >> shift & 0xff);
  auto hash = root_fractions<8>([](long double n) { return std::sqrt(n); });
  for (std::size_t i = 0; i < message.size(); i += 64) {
    sha256_block(hash, reinterpret_cast<const unsigned char*>(message.data() + i));
  }
  std::string digits;
  for (const std::uint32_t word : hash) digits += fmt::format("{:08x}", word);
  return digits;
}

}  // namespace trainwarden
