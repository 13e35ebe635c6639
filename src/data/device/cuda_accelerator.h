// CudaAccelerator: an NVIDIA GPU, in the context that the process trains in.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "data/device/accelerator.h"
#include "data/device/cuda_driver.h"

namespace trainwarden::device {

class CudaAccelerator final : public Accelerator {
 public:
  // The GPU with this number among those that the process sees. Compiles the kernel, which takes some tenths of a
  // second; without it kernel_status() says why.
  static Result<std::unique_ptr<Accelerator>> open(int index);
  ~CudaAccelerator() override;
  CudaAccelerator(const CudaAccelerator&) = delete;
  CudaAccelerator& operator=(const CudaAccelerator&) = delete;

  Result<DeviceAddress> allocate(std::size_t bytes) override;
  Result<std::size_t> free_bytes() override;
  Status pin(MutableByteSpan memory) override;
  Result<Stream> create_stream() override;
  Result<DeviceEvent> create_event() override;
  Result<bool> is_recorded(Stream stream) override;
  Status record(DeviceEvent event, Stream stream) override;
  Status hold_until(Stream stream, DeviceEvent event) override;
  Result<bool> reached(DeviceEvent event) override;
  Status wait(DeviceEvent event) override;
  Status copy_to_device(DeviceAddress to, const void* pinned, std::size_t bytes, Stream stream) override;
  Status copy_on_device(DeviceAddress to, DeviceAddress from, std::size_t bytes, Stream stream) override;
  Status copy_to_host(void* pinned, DeviceAddress from, std::size_t bytes, Stream stream) override;
  Status clear(DeviceAddress at, std::size_t bytes, Stream stream) override;
  Status kernel_status() const override { return kernel_status_; }
  Status summarize(DeviceAddress tasks, std::uint32_t task_count, std::uint32_t part_count, DeviceAddress raw,
                   Stream stream) override;

 private:
  CudaAccelerator(const CudaDriver& driver, int device) : driver_(driver), device_(device) {}

  Status load_kernel();

  const CudaDriver& driver_;
  const int device_;
  void* context_ = nullptr;
  void* module_ = nullptr;
  void* kernel_ = nullptr;
  Status kernel_status_;

  std::mutex mutex_;  // guards what was made
  std::vector<DeviceAddress> allocations_;
  std::vector<void*> pinned_;
  std::vector<Stream> streams_;
  std::vector<DeviceEvent> events_;
};

}  // namespace trainwarden::device
