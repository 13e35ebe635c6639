// The numbers that the kernel of statistics_kernel.h reckons with, and their bits, for NVRTC and for C++ alike.
#ifndef TRAINWARDEN_DEVICE_KERNEL_NUMBERS_H
#define TRAINWARDEN_DEVICE_KERNEL_NUMBERS_H

#ifdef __CUDACC_RTC__
#define TW_KERNEL __device__ __forceinline__
#define TW_UNROLL _Pragma("unroll")
#else
#include <bit>
#include <cmath>
#define TW_KERNEL inline
#define TW_UNROLL
#endif

namespace trainwarden::device {

using U32 = unsigned int;
using U64 = unsigned long long;
using I64 = long long;

constexpr U32 kMagnitudeMask = 0x7fffffff;
constexpr U32 kInfinityBits = 0x7f800000;

#ifdef __CUDACC_RTC__
TW_KERNEL float as_float(U32 bits) {
  return __uint_as_float(bits);
}
TW_KERNEL U32 as_bits(float value) {
  return __float_as_uint(value);
}
TW_KERNEL double as_double(U64 bits) {
  return __longlong_as_double(static_cast<I64>(bits));
}
TW_KERNEL U64 as_bits(double value) {
  return static_cast<U64>(__double_as_longlong(value));
}
// Never fused with a multiplication, whatever the compiler's options.
TW_KERNEL double add(double a, double b) {
  return __dadd_rn(a, b);
}
TW_KERNEL double add_square(double sum, double x) {
  return __fma_rn(x, x, sum);
}
TW_KERNEL float smaller(float a, float b) {
  return fminf(a, b);
}
TW_KERNEL float larger(float a, float b) {
  return fmaxf(a, b);
}
#else
TW_KERNEL float as_float(U32 bits) {
  return std::bit_cast<float>(bits);
}
TW_KERNEL U32 as_bits(float value) {
  return std::bit_cast<U32>(value);
}
TW_KERNEL double as_double(U64 bits) {
  return std::bit_cast<double>(bits);
}
TW_KERNEL U64 as_bits(double value) {
  return std::bit_cast<U64>(value);
}
TW_KERNEL double add(double a, double b) {
  return a + b;
}
TW_KERNEL double add_square(double sum, double x) {
  return x * x + sum;  // the square of a float32 is exact
}
TW_KERNEL float smaller(float a, float b) {
  return std::fmin(a, b);
}
TW_KERNEL float larger(float a, float b) {
  return std::fmax(a, b);
}
#endif

TW_KERNEL U32 smaller(U32 a, U32 b) {
  return a < b ? a : b;
}
TW_KERNEL U32 larger(U32 a, U32 b) {
  return a > b ? a : b;
}

// A number that grows with the value. Neither it nor its complement is 0 for a finite value.
TW_KERNEL U32 rank_of(float value) {
  const U32 bits = as_bits(value);
  return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
}
TW_KERNEL float value_of_rank(U32 rank) {
  return as_float((rank >> 31) != 0 ? rank & kMagnitudeMask : ~rank);
}

// Elements in memory, and their values as the bits of a float32.
struct HalfElement {
  unsigned short bits;
};
struct BrainElement {
  unsigned short bits;
};
TW_KERNEL U32 float_bits(float element) {
  return as_bits(element);
}
TW_KERNEL U32 float_bits(BrainElement element) {
  return static_cast<U32>(element.bits) << 16;
}
TW_KERNEL U32 float_bits(HalfElement element) {
  const U32 sign = (element.bits & 0x8000u) << 16;
  const U32 magnitude = element.bits & 0x7fffu;
  if (magnitude < 0x0400u) return sign | as_bits(static_cast<float>(magnitude) * 0x1p-24f);
  // Exponent 31 means infinity or NaN, as exponent 255 does in float32.
  const U32 rebias = magnitude < 0x7c00u ? 127 - 15 : 255 - 31;
  return sign | ((magnitude << 13) + (rebias << 23));
}

}  // namespace trainwarden::device

#endif  // TRAINWARDEN_DEVICE_KERNEL_NUMBERS_H
