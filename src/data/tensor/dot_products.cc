#include "data/tensor/dot_products.h"

#include <cstddef>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/tensor/dot_products.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway asks.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trainwarden {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

float dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  auto even = hn::Zero(d);
  auto odd = hn::Zero(d);
  std::size_t at = 0;
  for (; at + 2 * lanes <= count; at += 2 * lanes) {
    even = hn::MulAdd(hn::LoadU(d, a + at), hn::LoadU(d, b + at), even);
    odd = hn::MulAdd(hn::LoadU(d, a + at + lanes), hn::LoadU(d, b + at + lanes), odd);
  }
  if (at + lanes <= count) {
    even = hn::MulAdd(hn::LoadU(d, a + at), hn::LoadU(d, b + at), even);
    at += lanes;
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(even, odd)));
  for (; at < count; ++at) sum += a[at] * b[at];
  return sum;
}

// Four rows at a time: the vector is loaded once for them, and no sum waits for another.
void DotProducts(const float* HWY_RESTRICT vector, const float* HWY_RESTRICT rows, std::size_t length,
                 float* HWY_RESTRICT products, std::size_t count) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  const std::size_t whole = length - length % lanes;
  std::size_t row = 0;
  for (; row + 4 <= count; row += 4) {
    const float* HWY_RESTRICT first = rows + row * length;
    auto sum0 = hn::Zero(d);
    auto sum1 = hn::Zero(d);
    auto sum2 = hn::Zero(d);
    auto sum3 = hn::Zero(d);
    for (std::size_t at = 0; at < whole; at += lanes) {
      const auto v = hn::LoadU(d, vector + at);
      sum0 = hn::MulAdd(v, hn::LoadU(d, first + at), sum0);
      sum1 = hn::MulAdd(v, hn::LoadU(d, first + length + at), sum1);
      sum2 = hn::MulAdd(v, hn::LoadU(d, first + 2 * length + at), sum2);
      sum3 = hn::MulAdd(v, hn::LoadU(d, first + 3 * length + at), sum3);
    }
    products[row] = hn::GetLane(hn::SumOfLanes(d, sum0));
    products[row + 1] = hn::GetLane(hn::SumOfLanes(d, sum1));
    products[row + 2] = hn::GetLane(hn::SumOfLanes(d, sum2));
    products[row + 3] = hn::GetLane(hn::SumOfLanes(d, sum3));
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t at = whole; at < length; ++at) products[row + i] += vector[at] * first[i * length + at];
    }
  }
  for (; row < count; ++row) products[row] = dot(vector, rows + row * length, length);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trainwarden
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trainwarden {
namespace {

HWY_EXPORT(DotProducts);

}  // namespace

void dot_products(std::span<const float> vector, std::span<const float> rows, std::span<float> products) {
  HWY_DYNAMIC_DISPATCH(DotProducts)(vector.data(), rows.data(), vector.size(), products.data(), products.size());
}

}  // namespace trainwarden
#endif  // HWY_ONCE
