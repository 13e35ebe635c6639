// Autocast, by the functions that LibTorch's version has for it.
#include "training/autocast.h"

#include <ATen/autocast_mode.h>
#include <c10/core/DeviceType.h>
#include <torch/version.h>

#include <stdexcept>
#include <string>

namespace bert {
namespace {

#if TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 4)
bool enabled(c10::DeviceType device) {
  return at::autocast::is_autocast_enabled(device);
}
void set_enabled(c10::DeviceType device, bool on) {
  at::autocast::set_autocast_enabled(device, on);
}
c10::ScalarType type_of(c10::DeviceType device) {
  return at::autocast::get_autocast_dtype(device);
}
void set_type(c10::DeviceType device, c10::ScalarType type) {
  at::autocast::set_autocast_dtype(device, type);
}
#else
bool enabled(c10::DeviceType device) {
  return device == c10::kCPU ? at::autocast::is_cpu_enabled() : at::autocast::is_enabled();
}
void set_enabled(c10::DeviceType device, bool on) {
  device == c10::kCPU ? at::autocast::set_cpu_enabled(on) : at::autocast::set_enabled(on);
}
c10::ScalarType type_of(c10::DeviceType device) {
  return device == c10::kCPU ? at::autocast::get_autocast_cpu_dtype() : at::autocast::get_autocast_gpu_dtype();
}
void set_type(c10::DeviceType device, c10::ScalarType type) {
  device == c10::kCPU ? at::autocast::set_autocast_cpu_dtype(type) : at::autocast::set_autocast_gpu_dtype(type);
}
#endif

}  // namespace

AutocastScope::AutocastScope(c10::DeviceType device, c10::ScalarType type)
    : device_(device), active_(type != c10::ScalarType::Float) {
  if (!active_) return;
  if (device != c10::kCPU && device != c10::kCUDA) {
    throw std::runtime_error("Mixed precision is for the CPU and for CUDA, found " + c10::DeviceTypeName(device) +
                             ". Train in float32.");
  }
  const bool half = type == c10::ScalarType::Half;
  if (type != c10::ScalarType::BFloat16 && (!half || device == c10::kCPU)) {
    throw std::runtime_error(std::string("Mixed precision on ") + c10::DeviceTypeName(device) + " expects bfloat16" +
                             (device == c10::kCPU ? "" : " or float16") + ", found " + c10::toString(type) + ".");
  }
  was_enabled_ = enabled(device);
  type_before_ = type_of(device);
  set_type(device, type);
  set_enabled(device, true);
  at::autocast::increment_nesting();
}

AutocastScope::~AutocastScope() {
  if (!active_) return;
  // Casts of weights are kept until the outermost scope ends: weights change after it.
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  set_enabled(device_, was_enabled_);
  set_type(device_, type_before_);
}

}  // namespace bert
