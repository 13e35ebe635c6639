#include <fmt/format.h>

#include "data/device/accelerator.h"
#include "data/device/cuda_accelerator.h"

namespace trainwarden::device {

namespace {

constexpr std::int32_t kExtension = 12;  // DLPack's kDLExtDev: what has no number of its own

}  // namespace

Result<std::unique_ptr<Accelerator>> open_accelerator(Device device) {
  if (device.type == DeviceType::kCuda) return CudaAccelerator::open(device.index);
  if (static_cast<std::int32_t>(device.type) == kExtension) {
    return Status(Code::kUnimplemented,
                  "tensors whose elements do not lie in memory one by one (sparse, quantised, or on a device of an "
                  "extension) cannot be read; save a dense copy of them under a name of its own");
  }
  return Status(Code::kUnimplemented, fmt::format("tensors on devices of DLPack's type {} cannot be read, only those "
                                                  "of the CPU and of CUDA; copy them to the host first",
                                                  static_cast<std::int32_t>(device.type)));
}

}  // namespace trainwarden::device
