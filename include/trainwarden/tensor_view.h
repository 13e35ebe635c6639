// TensorView: a view of a tensor that somebody else owns. No copy, no ownership, no framework type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

#include "trainwarden/dtype.h"
#include "trainwarden/export.h"
#include "trainwarden/status.h"

namespace trainwarden {

// Sizes of the dimensions, outermost first; rank 0 is a scalar. Held inline, so a view never allocates.
class TRAINWARDEN_API Shape {
 public:
  static constexpr int kMaxRank = 16;

  Shape() = default;
  Shape(std::initializer_list<std::int64_t> sizes);

  // kInvalidArgument when there are more than kMaxRank sizes or one is negative.
  static Result<Shape> from(std::span<const std::int64_t> sizes);

  int rank() const { return rank_; }
  std::int64_t operator[](int dimension) const { return sizes_[static_cast<std::size_t>(dimension)]; }
  std::span<const std::int64_t> sizes() const { return {sizes_.data(), static_cast<std::size_t>(rank_)}; }

  // The product of the sizes; 1 for a scalar, 0 when any size is 0.
  std::int64_t element_count() const;

  std::string to_string() const;  // "[256, 1, 28, 28]", "[]" for a scalar

  friend TRAINWARDEN_API bool operator==(const Shape& a, const Shape& b);

 private:
  std::array<std::int64_t, kMaxRank> sizes_{};
  int rank_ = 0;
};

// The numbers are DLPack's DLDeviceType.
enum class DeviceType : std::int32_t {
  kCpu = 1,
  kCuda = 2,
  kCudaHost = 3,
  kRocm = 10,
  kRocmHost = 11,
  kCudaManaged = 13
};

struct Device {
  DeviceType type = DeviceType::kCpu;
  std::int32_t index = 0;

  bool host_readable() const {
    return type == DeviceType::kCpu || type == DeviceType::kCudaHost || type == DeviceType::kRocmHost ||
           type == DeviceType::kCudaManaged;
  }
  friend bool operator==(const Device&, const Device&) = default;
};

// Valid only as long as the memory behind `data`. Copy freely. Const access from many threads is safe as long as
// nobody writes the elements meanwhile.
struct TRAINWARDEN_API TensorView {
  const void* data = nullptr;  // first element; for kString an array of std::string_view
  DType dtype = DType::kFloat32;
  Shape shape;
  Device device;
  // Distance between neighbours of each dimension, in elements (may be 0 or negative). Ignored when `contiguous`.
  std::array<std::int64_t, Shape::kMaxRank> strides{};
  bool contiguous = true;  // row-major without gaps
  // On an accelerator, the stream that the elements are produced on (a cudaStream_t); nullptr is the default stream.
  void* stream = nullptr;

  static TensorView of(const void* data, DType dtype, const Shape& shape, Device device = {});

  // Strides in elements, one for each dimension. A view that turns out to be row-major is marked contiguous.
  static Result<TensorView> strided(const void* data, DType dtype, std::span<const std::int64_t> shape,
                                    std::span<const std::int64_t> strides, Device device = {});

  std::int64_t element_count() const { return shape.element_count(); }
  // element_count × item_bytes: what a packed copy takes. For kString the bytes of the views, not of the text.
  std::size_t packed_bytes() const;
};

// Copies the elements in row-major order into `destination`, which has room for packed_bytes(). Contiguous views are
// one memcpy. kFailedPrecondition when the device is not host readable.
TRAINWARDEN_API Status copy_packed(const TensorView& view, void* destination);

}  // namespace trainwarden
