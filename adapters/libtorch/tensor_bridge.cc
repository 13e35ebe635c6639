// The one place that knows how a tensor of LibTorch lies in memory.
#include "tensor_bridge.h"

#include <ATen/core/grad_mode.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/version.h>

#include <optional>
#include <span>

#include "trainwarden/torch.h"

// 1 when this LibTorch is at least major.minor.
#define TW_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))

namespace trainwarden::torch {
namespace {

// DLPack's "extension device": somewhere that the CPU cannot read.
constexpr Device kUnreadable = {static_cast<DeviceType>(12), 0};

std::optional<DType> dtype_of(at::ScalarType type) {
  switch (type) {
    case at::kBool: return DType::kBool;
    case at::kChar: return DType::kInt8;
    case at::kShort: return DType::kInt16;
    case at::kInt: return DType::kInt32;
    case at::kLong: return DType::kInt64;
    case at::kByte: return DType::kUInt8;
    case at::kHalf: return DType::kFloat16;
    case at::kBFloat16: return DType::kBFloat16;
    case at::kFloat: return DType::kFloat32;
    case at::kDouble: return DType::kFloat64;
    case at::kComplexFloat: return DType::kComplex64;
    case at::kComplexDouble: return DType::kComplex128;
#if TW_TORCH_AT_LEAST(2, 1)
    case at::kFloat8_e4m3fn: return DType::kFloat8E4M3;
    case at::kFloat8_e5m2: return DType::kFloat8E5M2;
#endif
#if TW_TORCH_AT_LEAST(2, 3)
    case at::kUInt16: return DType::kUInt16;
    case at::kUInt32: return DType::kUInt32;
    case at::kUInt64: return DType::kUInt64;
#endif
    default: return std::nullopt;
  }
}

std::optional<Device> device_of(const at::Device& device) {
  const std::int32_t index = device.has_index() ? device.index() : 0;
  if (device.is_cpu()) return Device{DeviceType::kCpu, 0};
  if (device.is_cuda()) return Device{DeviceType::kCuda, index};
  if (device.is_hip()) return Device{DeviceType::kRocm, index};
  return std::nullopt;
}

// What the CUDA runtime calls the stream; none where this LibTorch has no way to know.
template <class Stream>
std::optional<void*> handle_of(const Stream& stream) {
  if (stream.id() == 0) return nullptr;  // the default stream
  if constexpr (requires { stream.native_handle(); }) {
    return stream.native_handle();
  } else {
    return std::nullopt;
  }
}

// The stream that operators on this device run on now.
std::optional<void*> current_stream(const at::Device& device) {
  if (device.is_cpu()) return nullptr;
  return handle_of(c10::impl::VirtualGuardImpl(device.type()).getStream(device));
}

bool is_lazy(const at::Tensor& tensor) {
  return tensor.is_conj() || tensor.is_neg();
}

std::optional<TensorView> plain_view_of(const at::Tensor& tensor) {
  if (!tensor.defined() || tensor.layout() != at::kStrided || is_lazy(tensor)) return std::nullopt;
  const auto dtype = dtype_of(tensor.scalar_type());
  const auto device = device_of(tensor.device());
  const void* data = address_of(tensor);
  if (!dtype || !device || (data == nullptr && tensor.numel() > 0)) return std::nullopt;
  auto view = TensorView::strided(data, *dtype, std::span(tensor.sizes().data(), tensor.sizes().size()),
                                  std::span(tensor.strides().data(), tensor.strides().size()), *device);
  const auto stream = current_stream(tensor.device());
  if (!view.ok() || !stream) return std::nullopt;
  view->stream = *stream;
  return *view;
}

}  // namespace

const void* address_of(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.has_storage() || tensor.is_meta()) return nullptr;
#if TW_TORCH_AT_LEAST(2, 1)
  return tensor.const_data_ptr();  // data_ptr() would take a private copy of a copy-on-write tensor
#else
  return tensor.data_ptr();
#endif
}

TensorView view_of(const at::Tensor& tensor) {
  if (const auto view = plain_view_of(tensor)) return *view;
  return TensorView::of(nullptr, DType::kUInt8, Shape{0}, kUnreadable);
}

void save_if_wanted(Hook& hook, TensorId id, const at::Tensor& tensor) {
  if (!tensor.defined() || !hook.wants(id)) return;
  if (!is_lazy(tensor)) {
    hook.save_tensor(id, view_of(tensor));
    return;
  }
  const at::NoGradGuard no_grad;
  hook.save_tensor(id, view_of(tensor.resolve_conj().resolve_neg()));
}

}  // namespace trainwarden::torch
