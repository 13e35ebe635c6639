// Damage for tests: every truncation of a payload and every flipped bit, given to a decoder in memory of exactly that
// size, so that AddressSanitizer sees a read past the end.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/bytes.h"

namespace trainwarden::format {

template <class Decode>
void on_exact_copy(std::string_view payload, Decode decode) {
  const auto copy = std::make_unique<std::byte[]>(payload.size());
  std::memcpy(copy.get(), payload.data(), payload.size());
  decode(ByteSpan(copy.get(), payload.size()));
}

// decode(bytes) for every prefix but the whole.
template <class Decode>
void for_each_truncation(std::string_view payload, Decode decode) {
  for (std::size_t bytes = 0; bytes < payload.size(); ++bytes) on_exact_copy(payload.substr(0, bytes), decode);
}

// Under a sanitizer all flips of a payload take minutes. Seven is prime to eight: every place in a byte has its turn.
#if defined(TW_SANITIZED)
constexpr std::size_t kFlipEvery = 7;
#else
constexpr std::size_t kFlipEvery = 1;
#endif

// decode(bytes) for every payload that differs in one bit; under a sanitizer for every seventh of them.
template <class Decode>
void for_each_flipped_bit(std::string_view payload, Decode decode) {
  std::string damaged(payload);
  for (std::size_t bit = 0; bit < payload.size() * 8; bit += kFlipEvery) {
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    on_exact_copy(damaged, decode);
    damaged[bit / 8] = payload[bit / 8];
  }
}

}  // namespace trainwarden::format
