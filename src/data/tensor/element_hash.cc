// Several polynomials in R^lanes run side by side, one in each lane, and are joined at the end.
#include "data/tensor/element_hash.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/tensor/element_hash.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway asks.
#include <hwy/highway.h>

// This file is read once for every CPU; this part belongs to all.
#ifndef TRAINWARDEN_ELEMENT_HASH_COMMON
#define TRAINWARDEN_ELEMENT_HASH_COMMON
namespace trainwarden {
namespace {

constexpr std::uint64_t kR = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kA = 0xd6e8feb86659fd93;
constexpr std::uint64_t kB = 0x9e3779b1;

// kR^exponent mod 2^64
constexpr std::uint64_t power_of_r(std::uint64_t exponent) {
  std::uint64_t power = 1;
  std::uint64_t square = kR;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power *= square;
    square *= square;
  }
  return power;
}

constexpr std::uint64_t mix(std::uint64_t component) {
  const std::uint64_t product = component * kB;
  return product ^ (product >> 32) ^ kA;
}

}  // namespace
}  // namespace trainwarden
#endif

HWY_BEFORE_NAMESPACE();
namespace trainwarden {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Words64 = hn::ScalableTag<std::uint64_t>;
using Vector64 = hn::Vec<Words64>;

// a × factor mod 2^64
HWY_INLINE Vector64 multiply(Vector64 a, std::uint64_t factor) {
  const Words64 d;
#if HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return a * hn::Set(d, factor);
#elif HWY_TARGET == HWY_SCALAR
  return hn::Set(d, hn::GetLane(a) * factor);
#else
  const hn::Repartition<std::uint32_t, Words64> d32;
  const auto low = hn::BitCast(d32, hn::Set(d, factor));
  const auto a_low = hn::BitCast(d32, a);
  const auto a_high = hn::BitCast(d32, hn::ShiftRight<32>(a));
  auto crossed = hn::MulEven(a_high, low);
  if (factor >> 32 != 0) crossed = hn::Add(crossed, hn::MulEven(a_low, hn::BitCast(d32, hn::Set(d, factor >> 32))));
  return hn::Add(hn::MulEven(a_low, low), hn::ShiftLeft<32>(crossed));
#endif
}

HWY_INLINE Vector64 mix_vector(Vector64 components) {
  const Words64 d;
  const auto product = multiply(components, kB);
  return hn::Xor(hn::Xor(product, hn::ShiftRight<32>(product)), hn::Set(d, kA));
}

HWY_INLINE Vector64 load(const std::uint64_t* components) {
  return hn::LoadU(Words64(), components);
}

template <class T>
HWY_INLINE Vector64 load(const T* components) {
  const Words64 d;
  const hn::Rebind<std::uint32_t, Words64> d32;
  const auto narrow = hn::LoadU(hn::Rebind<T, Words64>(), components);
  if constexpr (sizeof(T) == 4) {
    return hn::PromoteTo(d, narrow);
  } else {
    return hn::PromoteTo(d, hn::PromoteTo(d32, narrow));
  }
}

template <class T>
std::uint64_t append(std::uint64_t hash, const T* components, std::size_t count) {
  const Words64 d;
  const std::size_t lanes = hn::Lanes(d);
  const std::uint64_t one_step = power_of_r(lanes);
  const std::uint64_t four_steps = power_of_r(4 * lanes);
  std::size_t i = 0;
  if (count >= 4 * lanes) {
    auto h0 = hn::Zero(d);
    auto h1 = h0;
    auto h2 = h0;
    auto h3 = h0;
    for (; i + 4 * lanes <= count; i += 4 * lanes) {
      h0 = hn::Add(multiply(h0, four_steps), mix_vector(load(components + i)));
      h1 = hn::Add(multiply(h1, four_steps), mix_vector(load(components + i + lanes)));
      h2 = hn::Add(multiply(h2, four_steps), mix_vector(load(components + i + 2 * lanes)));
      h3 = hn::Add(multiply(h3, four_steps), mix_vector(load(components + i + 3 * lanes)));
    }
    h1 = hn::Add(multiply(h0, one_step), h1);
    h2 = hn::Add(multiply(h1, one_step), h2);
    h3 = hn::Add(multiply(h2, one_step), h3);
    HWY_ALIGN std::uint64_t joined[hn::MaxLanes(Words64())];
    hn::Store(h3, d, joined);
    hash *= power_of_r(i - lanes);
    for (std::size_t lane = 0; lane < lanes; ++lane) hash = hash * kR + joined[lane];
  }
  for (; i < count; ++i) {
    T component;
    std::memcpy(&component, components + i, sizeof component);  // they need not be aligned
    hash = hash * kR + mix(component);
  }
  return hash;
}

std::uint64_t Append8(std::uint64_t hash, const std::uint8_t* components, std::size_t count) {
  return append(hash, components, count);
}
std::uint64_t Append16(std::uint64_t hash, const std::uint16_t* components, std::size_t count) {
  return append(hash, components, count);
}
std::uint64_t Append32(std::uint64_t hash, const std::uint32_t* components, std::size_t count) {
  return append(hash, components, count);
}
std::uint64_t Append64(std::uint64_t hash, const std::uint64_t* components, std::size_t count) {
  return append(hash, components, count);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trainwarden
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trainwarden {
namespace {

HWY_EXPORT(Append8);
HWY_EXPORT(Append16);
HWY_EXPORT(Append32);
HWY_EXPORT(Append64);

}  // namespace

std::uint64_t append_hash(std::uint64_t hash, const void* components, std::size_t count, std::size_t component_bytes) {
  switch (component_bytes) {
    case 1: return HWY_DYNAMIC_DISPATCH(Append8)(hash, static_cast<const std::uint8_t*>(components), count);
    case 2: return HWY_DYNAMIC_DISPATCH(Append16)(hash, static_cast<const std::uint16_t*>(components), count);
    case 4: return HWY_DYNAMIC_DISPATCH(Append32)(hash, static_cast<const std::uint32_t*>(components), count);
    default: return HWY_DYNAMIC_DISPATCH(Append64)(hash, static_cast<const std::uint64_t*>(components), count);
  }
}

std::uint64_t join_hashes(std::uint64_t first, std::uint64_t second, std::uint64_t count) {
  return first * power_of_r(count) + second;
}

}  // namespace trainwarden
#endif  // HWY_ONCE
