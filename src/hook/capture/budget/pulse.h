// Pulse: whatever a budget leaves out, losses and signals are kept about once a second, where that costs next to
// nothing.
//
// A budget that was spent early makes steps rare, and then a run of ten seconds is known for its first two only. Sums
// over all steps (docs/format/phases.md) and step times need no more than a step now and then to be known to the end.
#pragma once

#include <algorithm>
#include <cstdint>

namespace trainwarden::capture {

// Of the thread that drives training. Times of a steady clock.
class Pulse {
 public:
  static constexpr std::int64_t kIntervalNs = 1'000'000'000;
  // Of the training's time, for what the budget would not have allowed: 1 / 400.
  static constexpr std::int64_t kTimesItsCost = 400;

  void switch_on(std::int64_t now_ns) {
    is_on_ = true;
    due_ns_ = now_ns + kIntervalNs;
  }
  bool is_due(std::int64_t now_ns) const { return is_on_ && now_ns >= due_ns_; }

  // What a step is kept for that begins.
  enum class Kept : std::uint8_t { kNot, kByItsInterval, kByThePulse };
  // `spent_ns`: by capture so far. What other steps cost is no matter: the first ones are dear.
  void begin_step(Kept kept, std::int64_t now_ns, std::int64_t spent_ns) {
    if (kept_ == Kept::kByThePulse) cost_ns_ = spent_ns - spent_ns_;
    if (kept_ != Kept::kNot) due_ns_ = now_ns + std::max(kIntervalNs, kTimesItsCost * cost_ns_);
    kept_ = kept;
    spent_ns_ = spent_ns;
  }

 private:
  bool is_on_ = false;
  std::int64_t due_ns_ = 0;
  Kept kept_ = Kept::kNot;     // of the open step
  std::int64_t spent_ns_ = 0;  // when it began
  std::int64_t cost_ns_ = 0;   // of the last one that was kept by the pulse
};

}  // namespace trainwarden::capture
