// DeviceKeeper: what is kept of a tensor that lies on a device, which the training thread only asks to be read.
#pragma once

#include <cstdint>

#include "hook/capture/gpu/device_capture.h"
#include "hook/capture/saving/step_intake.h"
#include "hook/capture/tensor_table.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::capture {

// From any thread, but for settle_open_step(). What cannot be kept has been counted.
class DeviceKeeper {
 public:
  // Both must outlive this.
  DeviceKeeper(DeviceCapture& devices, StepIntake& intake) : devices_(devices), intake_(intake) {}

  // False: the tensor has no elements, so that no device is needed to keep it.
  bool keep(TensorEntry& entry, FormBits form, const TensorView& view);
  // What devices still bring into the open step is waited for without a lock, and becomes rows like others.
  // By the thread that drives training.
  void settle_open_step();

 private:
  bool keep_values(TensorEntry& entry, DeviceItem item);
  void keep_statistics(TensorEntry& entry, DeviceItem item);
  void add(TensorEntry& entry, DeviceItem item);
  void lose_unread(const TensorEntry& entry, std::uint64_t bytes, const Status& status);

  DeviceCapture& devices_;
  StepIntake& intake_;
};

}  // namespace trainwarden::capture
