#include <fmt/format.h>

#include "data/device/accelerator.h"
#include "data/device/cuda_accelerator.h"

namespace trainwarden::device {

Result<std::unique_ptr<Accelerator>> open_accelerator(Device device) {
  if (device.type == DeviceType::kCuda) return CudaAccelerator::open(device.index);
  return Status(Code::kUnimplemented, fmt::format("tensors on devices of DLPack's type {} cannot be read, only those "
                                                  "of the CPU and of CUDA; copy them to the host first",
                                                  static_cast<std::int32_t>(device.type)));
}

}  // namespace trainwarden::device
