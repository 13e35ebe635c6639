// The small floating-point types as their bits, and their exact values as float. Every value of each is a float32.
#pragma once

#include <bit>
#include <cstdint>

namespace trainwarden {

// IEEE 754 binary16: 1 sign, 5 exponent, 10 mantissa bits.
struct Float16 {
  std::uint16_t bits;
};

// The upper half of a float32.
struct BFloat16 {
  std::uint16_t bits;
};

// OCP FP8 E4M3, the "fn" variant: no infinity; S.1111.111 is NaN. Source: OCP 8-bit Floating Point Specification, 2023.
struct Float8E4M3 {
  std::uint8_t bits;
};

// OCP FP8 E5M2: the upper half of a binary16.
struct Float8E5M2 {
  std::uint8_t bits;
};

// Without a branch, so that compilers vectorise loops over what follows.
constexpr std::uint32_t select(bool condition, std::uint32_t yes, std::uint32_t no) {
  return no ^ ((yes ^ no) & (0u - static_cast<std::uint32_t>(condition)));
}

// No denormal float32 appears on the way: the caller's flush-to-zero mode has no say.
constexpr float to_float(Float16 value) {
  const std::uint32_t sign = (value.bits & 0x8000u) << 16;
  const std::uint32_t magnitude = value.bits & 0x7fffu;
  // Exponent 31 means infinity or NaN, as exponent 255 does in float32.
  const std::uint32_t rebias = select(magnitude < 0x7c00u, 127 - 15, 255 - 31);
  const std::uint32_t normal = (magnitude << 13) + (rebias << 23);
  const float denormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-24f;
  return std::bit_cast<float>(sign | select(magnitude < 0x0400u, std::bit_cast<std::uint32_t>(denormal), normal));
}

constexpr float to_float(BFloat16 value) {
  return std::bit_cast<float>(std::uint32_t{value.bits} << 16);
}

constexpr float to_float(Float8E4M3 value) {
  const std::uint32_t sign = (value.bits & 0x80u) << 24;
  const std::uint32_t magnitude = value.bits & 0x7fu;
  const std::uint32_t normal = select(magnitude == 0x7fu, 0x7fc00000u, (magnitude << 20) + ((127u - 7u) << 23));
  const float denormal = static_cast<float>(static_cast<std::int32_t>(magnitude)) * 0x1p-9f;
  return std::bit_cast<float>(sign | select(magnitude < 0x08u, std::bit_cast<std::uint32_t>(denormal), normal));
}

constexpr float to_float(Float8E5M2 value) {
  return to_float(Float16{static_cast<std::uint16_t>(value.bits << 8)});
}

}  // namespace trainwarden
