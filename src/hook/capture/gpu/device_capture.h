// DeviceCapture: the readers of the devices that tensors were saved from.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "data/device/accelerator.h"
#include "data/device/device_reader.h"
#include "hook/capture/staging/staged_step.h"
#include "hook/capture/staging/staging_area.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::capture {

// May be used by many threads at once.
class DeviceCapture {
 public:
  DeviceCapture(device::AcceleratorFactory open, StagingArea& staging) : open_(std::move(open)), staging_(staging) {}
  // Waits for what devices still copy into discarded steps.
  ~DeviceCapture();
  DeviceCapture(const DeviceCapture&) = delete;
  DeviceCapture& operator=(const DeviceCapture&) = delete;

  // Opened by the first call for a device, which may take some tenths of a second. A failure stays.
  Result<device::DeviceReader*> reader_of(const Device& device);
  // Lets a device that was opened copy into the staging area, all of which the first call takes from the system.
  Status pin_staging_for(const Device& device);

  void begin_group();  // in all readers, also those that are opened meanwhile
  void end_group();

  // Keeps a step that nobody will write until free_discarded() finds that devices are done with its memory.
  void discard(std::unique_ptr<StagedStep> step);
  void free_discarded();

 private:
  struct Opened {
    Device device;
    Status status;
    std::unique_ptr<device::DeviceReader> reader;  // none: the status says why
    std::optional<Status> pinned;                  // none: not tried
  };

  Opened& opened(const Device& device);

  const device::AcceleratorFactory open_;
  StagingArea& staging_;

  std::mutex mutex_;  // guards all below
  std::vector<std::unique_ptr<Opened>> devices_;
  std::thread::id group_thread_;                        // none: no group
  std::vector<std::unique_ptr<StagedStep>> discarded_;  // goes before the readers
};

}  // namespace trainwarden::capture
