#include "data/tensor/dlpack.h"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace trainwarden {
namespace {

// Codes of later versions.
constexpr std::uint8_t kCodeBool = 6;
constexpr std::uint8_t kCodeFloat8E4M3 = 10;
constexpr std::uint8_t kCodeFloat8E5M2 = 12;

struct TypeCode {
  DType dtype;
  std::uint8_t code;
  std::uint8_t bits;
};

constexpr std::array kTypeCodes = {
    TypeCode{DType::kBool, kCodeBool, 8},
    TypeCode{DType::kInt8, kDLInt, 8},
    TypeCode{DType::kInt16, kDLInt, 16},
    TypeCode{DType::kInt32, kDLInt, 32},
    TypeCode{DType::kInt64, kDLInt, 64},
    TypeCode{DType::kUInt8, kDLUInt, 8},
    TypeCode{DType::kUInt16, kDLUInt, 16},
    TypeCode{DType::kUInt32, kDLUInt, 32},
    TypeCode{DType::kUInt64, kDLUInt, 64},
    TypeCode{DType::kFloat16, kDLFloat, 16},
    TypeCode{DType::kBFloat16, kDLBfloat, 16},
    TypeCode{DType::kFloat32, kDLFloat, 32},
    TypeCode{DType::kFloat64, kDLFloat, 64},
    TypeCode{DType::kFloat8E4M3, kCodeFloat8E4M3, 8},
    TypeCode{DType::kFloat8E5M2, kCodeFloat8E5M2, 8},
    TypeCode{DType::kComplex64, kDLComplex, 64},
    TypeCode{DType::kComplex128, kDLComplex, 128},
};

std::optional<DType> dtype_of(const DLDataType& type) {
  if (type.lanes != 1) return std::nullopt;
  for (const TypeCode& known : kTypeCodes) {
    if (known.code == type.code && known.bits == type.bits) return known.dtype;
  }
  return std::nullopt;
}

// Readers of the same version as our header must know the code: before 0.8 a bool was sent as an unsigned byte.
constexpr bool kHeaderKnowsBool =
#if defined(DLPACK_MAJOR_VERSION)
    true;
#else
    DLPACK_VERSION >= 80;
#endif

std::optional<DLDataType> dl_type_of(DType dtype) {
  if (dtype == DType::kBool && !kHeaderKnowsBool) dtype = DType::kUInt8;
  for (const TypeCode& known : kTypeCodes) {
    if (known.dtype == dtype) return DLDataType{known.code, known.bits, 1};
  }
  return std::nullopt;
}

// What a DLManagedTensor of ours points to.
struct Export {
  DLManagedTensor managed{};
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::shared_ptr<const void> owner;
};

std::vector<std::int64_t> strides_of(const TensorView& view) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(view.shape.rank()));
  std::int64_t packed = 1;
  for (std::size_t d = strides.size(); d-- > 0;) {
    strides[d] = view.contiguous ? packed : view.strides[d];
    packed *= view.shape[static_cast<int>(d)];
  }
  return strides;
}

}  // namespace

Result<TensorView> from_dlpack(const DLTensor& tensor) {
  const std::optional<DType> dtype = dtype_of(tensor.dtype);
  if (!dtype) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("a DLPack tensor of type code {}, {} bits, {} lanes; known are bool, int, uint, float, bfloat, "
                    "float8_e4m3fn, float8_e5m2 and complex of one lane and whole bytes; convert it first",
                    tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes));
  }
  if (tensor.ndim < 0 || (tensor.ndim > 0 && tensor.shape == nullptr)) {
    return Status(Code::kInvalidArgument, fmt::format("a DLPack tensor of {} dimensions without a shape", tensor.ndim));
  }
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  const void* data = tensor.data == nullptr ? nullptr : static_cast<const std::byte*>(tensor.data) + tensor.byte_offset;
  const Device device{static_cast<DeviceType>(tensor.device.device_type), tensor.device.device_id};
  const std::span<const std::int64_t> sizes(tensor.shape, rank);
  if (tensor.strides != nullptr) {
    return TensorView::strided(data, *dtype, sizes, std::span<const std::int64_t>(tensor.strides, rank), device);
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const Shape shape, Shape::from(sizes));
  return TensorView::of(data, *dtype, shape, device);
}

Result<DLManagedTensor*> to_dlpack(const TensorView& view, std::shared_ptr<const void> owner) {
  const std::optional<DLDataType> type = dl_type_of(view.dtype);
  if (!type) {
    return Status(Code::kInvalidArgument, fmt::format("DLPack has no elements of dtype {}", name(view.dtype)));
  }
  auto exported = std::make_unique<Export>();
  exported->shape.assign(view.shape.sizes().begin(), view.shape.sizes().end());
  exported->strides = strides_of(view);
  exported->owner = std::move(owner);

  DLTensor& tensor = exported->managed.dl_tensor;
  tensor.data = const_cast<void*>(view.data);  // DLPack knows no memory that is only read
  tensor.device = {static_cast<DLDeviceType>(view.device.type), view.device.index};
  tensor.ndim = view.shape.rank();
  tensor.dtype = *type;
  tensor.shape = exported->shape.data();
  tensor.strides = exported->strides.data();
  exported->managed.manager_ctx = exported.get();
  exported->managed.deleter = [](DLManagedTensor* self) { delete static_cast<Export*>(self->manager_ctx); };
  return &exported.release()->managed;
}

Result<DLManagedTensor*> to_dlpack(TensorValue value) {
  auto owner = std::make_shared<const TensorValue>(std::move(value));
  return to_dlpack(owner->view(), owner);
}

}  // namespace trainwarden
