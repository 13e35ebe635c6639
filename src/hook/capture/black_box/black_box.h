// BlackBox: the last K steps whole, in bounded memory, in case somebody wants to know what led to a failure.
//
// A ring of K + 1 slots of equal size. When a step begins, the oldest slot that nobody reads is filled again; so in the
// steady state keeping a step costs a copy into memory that is warm. When what is asked for does not fit into a slot,
// collections are given up for good: first outputs and inputs, then weights, then gradients; losses, what a step was
// fed and the states of generators never. What does not fit is counted in its step.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "hook/capture/black_box/box_slot.h"
#include "hook/capture/black_box/box_snapshot.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/step_counter.h"
#include "hook/capture/tensor_table.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

class BlackBox {
 public:
  // kInvalidArgument: steps outside 1 to kMaxBoxSteps, too few bytes. kResourceExhausted: not even the addresses.
  // The rest must outlive it.
  static Result<std::unique_ptr<BlackBox>> create(const BlackBoxOptions& options, TensorTable& tensors,
                                                  CapturePlan& plan, const Clock& clock);
  ~BlackBox();
  BlackBox(const BlackBox&) = delete;
  BlackBox& operator=(const BlackBox&) = delete;

  // By the thread that drives training. A step in which nothing was kept takes no slot.
  void begin_step(const StepId& id);
  void end_step();
  // Gives up one more collection when what keeping cost since the last time is more than `share` of the time that has
  // passed; 0: never. Looks every few steps only.
  void keep_to(double share);

  // The first loss that was not finite, once; nullptr otherwise.
  const BoxLabel* take_broken_loss();

  // From any thread. Keeps a copy in the open step; a name that is there already gets the suffix that is free.
  void keep(TensorEntry& entry, const TensorView& view) { keep(entry, view, false); }
  // The same, under the rank that is never given up.
  void remember(TensorEntry& entry, const TensorView& view) { keep(entry, view, true); }
  void keep_scalar(TensorEntry& entry, double value);

  // Allocation-free, lock-free, from any thread and from signal handlers.
  void take(BoxSnapshot& snapshot) const noexcept;
  void release(BoxSnapshot& snapshot) const noexcept;

  std::size_t step_limit() const { return slots_.size() - 1; }
  // Collections given up so far, in the order of ranks(), the lowest bit first.
  std::uint32_t given_up() const { return given_up_.load(std::memory_order_relaxed); }
  // The collections that may be given up, the first to go first. A label's rank is an index into it, or its size.
  const std::vector<std::string>& ranks() const { return ranks_; }
  // Steps that found no slot, as all were being read.
  std::uint64_t steps_without_room() const { return steps_without_room_.load(std::memory_order_relaxed); }
  void add_to(BlackBoxReport& report) const;

 private:
  BlackBox(const BlackBoxOptions& options, MutableByteSpan memory, TensorTable& tensors, CapturePlan& plan,
           const Clock& clock);

  void keep(TensorEntry& entry, const TensorView& view, bool always);
  BoxSlot* begin_filling();
  BoxSlot* free_slot();
  TensorEntry* entry_for(TensorEntry& entry, std::uint64_t number);
  const BoxLabel& label_of(TensorEntry& entry, bool always);
  void give_up_what_does_not_fit(const BoxSlot& slot);
  void give_up(std::size_t rank, std::string_view why);

  const MutableByteSpan memory_;
  TensorTable& tensors_;
  CapturePlan& plan_;
  const Clock& clock_;
  const std::vector<std::string> ranks_;
  std::deque<BoxSlot> slots_;
  std::uint64_t next_number_ = 1;
  std::atomic<BoxSlot*> open_ = nullptr;
  std::atomic<std::uint32_t> given_up_ = 0;
  std::atomic<std::uint64_t> steps_without_room_ = 0;
  std::atomic<std::uint64_t> missing_ = 0;  // tensors, over all steps
  std::atomic<std::int64_t> spent_ns_ = 0;
  std::atomic<const BoxLabel*> broken_loss_ = nullptr;
  bool broken_loss_taken_ = false;
  std::array<std::uint64_t, BoxSlot::kMaxRanks> last_asked_{};

  // Of keep_to().
  std::uint64_t looked_at_ = 0;
  std::int64_t looked_ns_ = 0;
  std::int64_t spent_then_ns_ = 0;

  std::mutex labels_mutex_;
  std::deque<BoxLabel> labels_;  // they stay: slots and signal handlers point to them
};

}  // namespace trainwarden::capture
