// Mixed precision: matrix products in a half type, where weights and sums stay float32.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

namespace bert {

// While it lives, LibTorch's operators of this thread choose their type as torch.autocast makes them; then all is as it
// was. float32 changes nothing. backward() is called outside. Throws std::runtime_error on a device other than CPU and
// CUDA, on types other than float32, bfloat16 and float16, and on float16 on a CPU, which LibTorch 1.13 has no products
// for.
class AutocastScope {
 public:
  AutocastScope(c10::DeviceType device, c10::ScalarType type);
  ~AutocastScope();
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  c10::DeviceType device_;
  bool active_;
  bool was_enabled_ = false;
  c10::ScalarType type_before_ = c10::ScalarType::Float;
};

}  // namespace bert
