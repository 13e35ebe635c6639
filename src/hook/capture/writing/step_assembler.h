// StepAssembler: gathers what training threads save in the current step.
//
// A value is saved in three moves: claim memory, copy into it without any lock, add the row. end() waits for copies
// that are under way, so that a step is whole when it goes to the writer, or its rest is.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/base/bytes.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/staging/staged_step.h"
#include "hook/capture/staging/staging_area.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/tensor_table.h"

namespace trainwarden::capture {

// May be used by many threads at once.
class StepAssembler {
 public:
  StepAssembler(StagingArea& staging, TensorTable& tensors, const CapturePlan& plan);

  // Claimed memory. Whoever holds one keeps the step from ending; drop it to give up.
  class Slot {
   public:
    Slot(Slot&& other) noexcept : assembler_(std::exchange(other.assembler_, nullptr)), memory_(other.memory_) {}
    Slot& operator=(Slot&&) = delete;
    ~Slot();
    MutableByteSpan memory() const { return memory_; }

   private:
    friend class StepAssembler;
    Slot(StepAssembler& assembler, MutableByteSpan memory) : assembler_(&assembler), memory_(memory) {}
    StepAssembler* assembler_;
    MutableByteSpan memory_;
  };

  enum class Added : std::uint8_t {
    kYes,
    kNoRoom,  // in the staging area's account, now
    kNoName,  // as there are too many names, or this one is too long with its suffix
  };

  // No value when the staging area has no room now.
  std::optional<Slot> claim(std::size_t bytes);
  // An entry that was saved in this step before is saved as the first free of "name#1", "name#2", ...
  Added add_tensor(Slot slot, TensorEntry& entry, StagedTensor tensor);
  // These are charged to the staging area's account; `row` is left alone when there is no room.
  Added add_statistics(TensorEntry& entry, journal::StatisticsRow& row);
  Added add_scalar(TensorEntry& entry, double value);
  // These lie beside what else is saved of the entry in this step: only a second call gets a suffix.
  Added add_reductions(TensorEntry& entry, std::span<const SavedReduction> reductions);
  Added add_device_item(TensorEntry& entry, DeviceItem& item);
  // One of form 0 that is lost, but for which the step must wait: its memory is still written to.
  void await_device_item(DeviceItem item);
  template <class Message>
  void add_loss(LossCause cause, std::uint64_t count, std::uint64_t bytes, Message message) {
    std::lock_guard lock(mutex_);
    step_->losses.add(cause, count, bytes, message);
  }

  // Shows the rows of the open step to `look` (StagedStep& → void) without holding a lock: what other threads save
  // meanwhile is put aside, and added afterwards. `look` may change the step's rows. Not within itself.
  template <class Look>
  void look_into(Look look);
  // Calls `change` (StagedStep& → void) with the open step, under the lock.
  template <class Change>
  void with_open_step(Change change) {
    std::lock_guard lock(mutex_);
    change(*step_);
  }

  // Of tensors in the open step. Any thread may look, at any time.
  std::uint64_t kept_bytes() const { return kept_bytes_.load(std::memory_order_relaxed); }
  // The tensors of the open step so far, as a part of it, which has this id. nullptr when there is none, and while
  // the step is looked into, somebody copies into it, or a device does.
  std::unique_ptr<StagedStep> take_part(const StepId& id);

  bool step_is_empty() const;
  // What was saved since the last end(); nullptr when nothing was, or while it is looked into.
  std::unique_ptr<StagedStep> end(const StepId& id);
  // The step could not be handed on: its content counts as lost with the current step, which also writes its names.
  void lose(StagedStep& step);

 private:
  struct Saves {
    std::uint64_t saved_in = 0;     // the number of the step
    std::uint32_t last_suffix = 0;  // within that step
  };
  // What there is to know about an entry, by its id.
  struct Mark {
    Saves itself;                       // its value, statistics or scalar
    Saves reductions;                   // single ones
    const Membership* named = nullptr;  // as the journal knows it
  };

  // What is saved while the step is looked into.
  struct Aside {
    StagedRows rows;
    std::vector<DeviceItem> device_items;
  };
  class Looking;
  void begin_look();
  void end_look() noexcept;
  StagedRows& rows() { return aside_ ? aside_->rows : *step_; }
  std::vector<DeviceItem>& device_items() { return aside_ ? aside_->device_items : step_->device_items; }

  TensorEntry* entry_for_save(TensorEntry& entry, Saves Mark::*kind = &Mark::itself);
  Mark& mark_of(std::uint32_t id);
  bool mark_saved(const TensorEntry& entry, Saves Mark::*kind);
  void add_name(const TensorEntry& entry);

  StagingArea& staging_;
  TensorTable& tensors_;
  const CapturePlan& plan_;

  mutable std::mutex mutex_;
  std::condition_variable copied_;
  std::unique_ptr<StagedStep> step_;
  std::optional<Aside> aside_;     // while step_ is looked into
  std::uint64_t step_number_ = 1;  // counts end(), from 1
  std::size_t copies_under_way_ = 0;
  std::atomic<std::uint64_t> kept_bytes_ = 0;
  std::vector<Mark> marks_;
};

// Puts aside what is saved during its life.
class StepAssembler::Looking {
 public:
  explicit Looking(StepAssembler& assembler) : assembler_(assembler) { assembler_.begin_look(); }
  ~Looking() { assembler_.end_look(); }
  Looking(const Looking&) = delete;
  Looking& operator=(const Looking&) = delete;

 private:
  StepAssembler& assembler_;
};

template <class Look>
void StepAssembler::look_into(Look look) {
  const Looking looking(*this);
  look(*step_);
}

}  // namespace trainwarden::capture
