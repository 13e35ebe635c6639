// Plain loops, compiled once for every CPU by Highway's dispatch and vectorised by the compiler.
#include "data/tensor/float_conversion.h"

#include "data/tensor/element.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "data/tensor/float_conversion.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h, as Highway asks.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trainwarden {
namespace HWY_NAMESPACE {
namespace {

template <class T>
void convert(const T* components, std::size_t count, float* HWY_RESTRICT floats) {
  for (std::size_t i = 0; i < count; ++i) {
    if constexpr (std::is_arithmetic_v<T>) {
      floats[i] = static_cast<float>(components[i]);
    } else {
      floats[i] = to_float(components[i]);
    }
  }
}

void Convert(DType dtype, const void* components, std::size_t count, float* floats) {
  visit_component(dtype, [&]<class T>(T) {
    if constexpr (kIsExactInFloat<T>) convert(static_cast<const T*>(components), count, floats);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace trainwarden
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trainwarden {
namespace {

HWY_EXPORT(Convert);

}  // namespace

void convert_to_floats(DType dtype, const void* components, std::size_t count, float* floats) {
  HWY_DYNAMIC_DISPATCH(Convert)(dtype, components, count, floats);
}

}  // namespace trainwarden
#endif  // HWY_ONCE
