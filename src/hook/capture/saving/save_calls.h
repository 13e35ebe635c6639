// SaveCalls: what training threads hand over to be kept, call by call.
//
// Each call finds the tensor's entry and the form that is wanted of it now. One that is wanted goes to the black box
// and to who keeps it; the time that this takes goes on the bill.
#pragma once

#include <span>
#include <string_view>

#include "hook/capture/black_box/box_recorder.h"
#include "hook/capture/budget/bill.h"
#include "hook/capture/capture_switch.h"
#include "hook/capture/gpu/device_keeper.h"
#include "hook/capture/known_tensors.h"
#include "hook/capture/saving/shard_keeper.h"
#include "hook/capture/saving/step_intake.h"
#include "hook/capture/saving/tensor_keeper.h"
#include "hook/capture/writing/step_handover.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// From any thread. May throw std::bad_alloc.
class SaveCalls {
 public:
  // All must outlive this.
  SaveCalls(KnownTensors& tensors, StepIntake& intake, DeviceKeeper& on_device, StepHandover& handover,
            BoxRecorder& box, Bill& bill, const CaptureSwitch& state)
      : tensors_(tensors),
        intake_(intake),
        on_host_(intake),
        on_device_(on_device),
        shards_(intake, box),
        handover_(handover),
        box_(box),
        bill_(bill),
        state_(state) {}

  void save_tensor(TensorId id, const TensorView& view);
  void save_tensor(std::string_view name, const TensorView& view);
  void save_strings(std::string_view name, std::span<const std::string_view> strings);
  void save_scalar(std::string_view name, double value);
  void save_observation(TensorId id, const TensorView& view);
  void save_reductions(TensorId id, std::span<const SavedReduction> reductions);
  void save_reductions(std::string_view name, std::span<const SavedReduction> reductions);
  void save_statistics(TensorId id, const GivenStatistics& given);
  void save_statistics(std::string_view name, const GivenStatistics& given);

  void save_shard(TensorId id, const Shard& shard, int replica);
  bool has_open_shards() const { return shards_.has_open(); }
  // Before the step ends: what has not come by now is missing.
  void end_shards() { shards_.end_step(); }

  // For the black box alone, whatever its collections are.
  bool remembers() const { return box_.is_filling() && state_.is_on(); }
  void remember(std::string_view name, const TensorView& view);

 private:
  // Inline, as most tensors are not wanted at most steps.
  void save(TensorEntry& entry, const TensorView& view) {
    if (const FormBits form = entry.form_now(); form != 0) save(entry, form, view);
  }
  void save(TensorEntry& entry, FormBits form, const TensorView& view);
  void save(TensorEntry& entry, FormBits form, const Shape& shape, std::span<const std::string_view> strings);
  void save(TensorEntry& entry, std::span<const SavedReduction> reductions);
  void save(TensorEntry& entry, const GivenStatistics& given);

  KnownTensors& tensors_;
  StepIntake& intake_;
  TensorKeeper on_host_;
  DeviceKeeper& on_device_;
  ShardKeeper shards_;
  StepHandover& handover_;
  BoxRecorder& box_;
  Bill& bill_;
  const CaptureSwitch& state_;
};

}  // namespace trainwarden::capture
