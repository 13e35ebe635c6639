// BoxSlot: one step of the black box, whole, in memory that never moves.
//
// Training threads fill it without a lock: memory and a place in the list are claimed with an addition each, and an
// item is seen when its pointer is stored, after its elements. So anybody may read what is there at any instant, also a
// signal handler in whose process the other threads go on.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/base/bytes.h"
#include "hook/capture/step_counter.h"
#include "trainwarden/dtype.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden::capture {

class Membership;

// What is written of a tensor, as text that was made when it was first kept: a signal handler can make none.
struct BoxLabel {
  std::uint32_t id = 0;
  std::string name;
  std::string names_row;  // {"id": ..., "name": ..., "collections": [...]}: its row in a names frame
  std::string key;        // its key in a bundle's header, with the quotes
  const Membership* membership = nullptr;
  bool loss = false;     // it belongs to `losses`
  std::size_t rank = 0;  // of the collection that it is kept for (BlackBox::ranks())
};

// Has it an element that is not finite? False for what has no such elements.
bool has_non_finite(DType dtype, ByteSpan elements);

struct BoxItem {
  const BoxLabel* label = nullptr;
  DType dtype = DType::kFloat32;
  Shape shape;
  ByteSpan data;
};

class BoxSlot {
 public:
  static constexpr std::uint32_t kMaxItems = 32768;
  static constexpr std::size_t kMaxRanks = 32;

  enum class State : std::uint32_t { kFree, kOpen, kHeld };

  explicit BoxSlot(MutableByteSpan memory);

  // By the one thread that drives training, on a slot that nobody has pinned or is filling.
  void open(std::uint64_t number, const StepId& id);
  // The open step turns out to be another one: the mode was switched in it.
  void set_id(const StepId& id);
  void hold(std::int64_t unix_ns);
  // False when somebody reads or fills it. It is free then, and nobody will begin to.
  bool try_free();

  // Between the two the memory stays. The answer must be looked at: a slot that is free has nothing to read.
  bool pin() const;
  void unpin() const { pins_.fetch_sub(1); }

  void begin_filling() { fillers_.fetch_add(1); }
  void end_filling() { fillers_.fetch_sub(1); }
  // A copy of the tensor; nullptr, and counted as missing, when there is no room or its elements cannot be read. Counts
  // it as asked for under its label's rank in any case. For who is filling.
  const BoxItem* add(const BoxLabel& label, const TensorView& view);
  void count_missing(std::uint64_t bytes);

  std::size_t capacity_bytes() const { return memory_.size(); }
  std::uint64_t number() const { return number_; }
  StepId id() const { return {global_step_.load(), mode_.load(), mode_step_.load()}; }
  bool held() const { return state_.load() == State::kHeld; }
  std::int64_t unix_ns() const { return unix_ns_; }  // when it ended; 0 while it is open
  // Items so far; some may still be on their way.
  std::uint32_t item_count() const;
  const BoxItem* item(std::uint32_t index) const { return items_[index].load(std::memory_order_acquire); }
  std::uint64_t missing_count() const { return missing_count_.load(std::memory_order_relaxed); }
  std::uint64_t missing_bytes() const { return missing_bytes_.load(std::memory_order_relaxed); }
  std::uint64_t asked_bytes(std::size_t rank) const { return asked_[rank].load(std::memory_order_relaxed); }

 private:
  const MutableByteSpan memory_;
  const std::unique_ptr<std::atomic<const BoxItem*>[]> items_;
  std::atomic<State> state_ = State::kFree;
  mutable std::atomic<std::uint32_t> pins_ = 0;
  std::atomic<std::uint32_t> fillers_ = 0;
  std::uint64_t number_ = 0;  // rises from step to step
  std::atomic<std::int64_t> global_step_ = 0;
  std::atomic<Mode> mode_ = Mode::kGlobal;
  std::atomic<std::int64_t> mode_step_ = 0;
  std::int64_t unix_ns_ = 0;
  std::atomic<std::uint64_t> used_bytes_ = 0;
  std::atomic<std::uint32_t> claimed_items_ = 0;
  std::atomic<std::uint64_t> missing_count_ = 0;
  std::atomic<std::uint64_t> missing_bytes_ = 0;
  std::array<std::atomic<std::uint64_t>, kMaxRanks> asked_{};  // with what it takes to hold them
};

}  // namespace trainwarden::capture
