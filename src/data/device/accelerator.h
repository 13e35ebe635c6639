// Accelerator: the few things that Trainwarden asks of a GPU.
//
// Everything here is asynchronous but wait(), open_accelerator() and what makes things: work is queued on streams and
// done in their order. What an accelerator has made belongs to it and goes with it, after the work that uses it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/base/bytes.h"
#include "trainwarden/status.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::device {

using DeviceAddress = std::uint64_t;  // of the GPU's memory
using Stream = void*;                 // the driver's; nullptr is its default stream
using DeviceEvent = void*;

// May be used by many threads at once. kInternal, with the driver's words, for what the driver refuses.
class Accelerator {
 public:
  virtual ~Accelerator() = default;

  // Making things: expensive, and may wait for the GPU. Done once.
  virtual Result<DeviceAddress> allocate(std::size_t bytes) = 0;
  virtual Result<std::size_t> free_bytes() = 0;
  // Makes host memory such that copies into and out of it need not wait. It must outlive this.
  virtual Status pin(MutableByteSpan memory) = 0;
  virtual Result<Stream> create_stream() = 0;
  virtual Result<DeviceEvent> create_event() = 0;

  // True while what is queued on the stream is recorded into a graph in place of being done.
  virtual Result<bool> is_recorded(Stream stream) = 0;
  virtual Status record(DeviceEvent event, Stream stream) = 0;
  // What is queued on the stream from here on waits until the event's latest record has been reached.
  virtual Status hold_until(Stream stream, DeviceEvent event) = 0;
  virtual Result<bool> reached(DeviceEvent event) = 0;
  virtual Status wait(DeviceEvent event) = 0;

  virtual Status copy_to_device(DeviceAddress to, const void* pinned, std::size_t bytes, Stream stream) = 0;
  virtual Status copy_on_device(DeviceAddress to, DeviceAddress from, std::size_t bytes, Stream stream) = 0;
  virtual Status copy_to_host(void* pinned, DeviceAddress from, std::size_t bytes, Stream stream) = 0;
  virtual Status clear(DeviceAddress at, std::size_t bytes, Stream stream) = 0;

  // Launches the kernel of statistics_kernel.h. Ok when there is one; else why there is none.
  virtual Status kernel_status() const = 0;
  virtual Status summarize(DeviceAddress tasks, std::uint32_t task_count, std::uint32_t part_count, DeviceAddress raw,
                           Stream stream) = 0;
};

using AcceleratorFactory = std::function<Result<std::unique_ptr<Accelerator>>(Device)>;

// kUnimplemented for devices other than CUDA's, kUnavailable when there is no driver.
Result<std::unique_ptr<Accelerator>> open_accelerator(Device device);

}  // namespace trainwarden::device
