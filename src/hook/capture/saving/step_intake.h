// StepIntake: puts what is saved into the open step, or counts it as lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "hook/capture/capture_switch.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/tensor_table.h"
#include "hook/capture/writing/loss_tally.h"
#include "hook/capture/writing/step_assembler.h"
#include "store/journal/journal_writer.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// From any thread.
class StepIntake {
 public:
  // All must outlive this. While `state` is off, losses are counted in the losses alone.
  StepIntake(WhenFull when_full, StagingArea& staging, StepAssembler& step, SharedLossTally& losses,
             const CaptureSwitch& state)
      : when_full_(when_full), staging_(staging), step_(step), losses_(losses), state_(state) {}

  StepAssembler& step() { return step_; }
  SharedLossTally& losses() { return losses_; }
  bool may_wait() const { return when_full_ == WhenFull::kBlock; }

  // Memory for a tensor's bytes; without it the loss has been counted.
  std::optional<StepAssembler::Slot> claim(const TensorEntry& entry, std::size_t bytes);
  // Calls `add_now` (→ StepAssembler::Added) as take_room() does. False: the loss, of so many bytes, has been counted.
  template <class AddNow>
  bool add(const TensorEntry& entry, std::uint64_t bytes, AddNow add_now);
  void add_row(TensorEntry& entry, journal::StatisticsRow row);
  void add_shape(TensorEntry& entry, DType dtype, const Shape& shape);

  // Calls `take` (true: it found room) until it succeeds or waiting is no use or not wanted.
  template <class Take>
  bool take_room(Take take);
  // Keeps a tensor in the form that is wanted: its values, its statistics, or its shape alone. Where there is no room
  // for values (`keep_values` gives false), statistics may take their place.
  template <class KeepValues, class KeepStatistics, class KeepShape>
  void keep_in_form(FormBits form, KeepValues keep_values, KeepStatistics keep_statistics, KeepShape keep_shape) const;

  // Something that was to be saved now, in the current step. `message`: as of LossTally.
  template <class Message>
  void lose(LossCause cause, std::uint64_t count, std::uint64_t bytes, Message message) {
    losses_.add(cause, count, bytes, message);
    if (state_.is_on()) step_.add_loss(cause, count, bytes, message);
  }
  void lose_off(const TensorEntry& entry, std::uint64_t bytes);
  void lose_unsupported(const TensorEntry& entry, std::string_view problem);
  void lose_nameless();
  void lose_undeclared(TensorId id);

 private:
  void lose_full(const TensorEntry& entry, std::uint64_t bytes);

  const WhenFull when_full_;
  StagingArea& staging_;
  StepAssembler& step_;
  SharedLossTally& losses_;
  const CaptureSwitch& state_;
};

template <class AddNow>
bool StepIntake::add(const TensorEntry& entry, std::uint64_t bytes, AddNow add_now) {
  StepAssembler::Added added;
  take_room([&] {
    added = add_now();
    return added != StepAssembler::Added::kNoRoom;
  });
  if (added == StepAssembler::Added::kNoRoom) lose_full(entry, bytes);
  if (added == StepAssembler::Added::kNoName) lose_nameless();
  return added == StepAssembler::Added::kYes;
}

template <class Take>
bool StepIntake::take_room(Take take) {
  while (true) {
    const std::uint64_t releases = staging_.release_count();
    if (take()) return true;
    if (!may_wait() || !staging_.wait_for_release(releases)) return false;
  }
}

template <class KeepValues, class KeepStatistics, class KeepShape>
void StepIntake::keep_in_form(FormBits form, KeepValues keep_values, KeepStatistics keep_statistics,
                              KeepShape keep_shape) const {
  const bool values_wanted = (form & kValuesBit) != 0;
  if (values_wanted && keep_values()) return;
  const bool in_their_place = values_wanted && when_full_ == WhenFull::kStatistics;
  if ((form & kAnyStatisticsBits) != 0 || in_their_place) {
    keep_statistics();
  } else if ((form & kShapeBit) != 0) {
    keep_shape();
  }
}

}  // namespace trainwarden::capture
