// Pulse: whatever a budget leaves out, losses and signals are kept about once a second, where that costs next to
// nothing.
//
// A budget that was spent early makes steps rare, and then a run of ten seconds is known for its first two only. Sums
// over all steps (docs/format/phases.md) and step times need no more than a step now and then to be known to the end.
//
// The steps are multiples of a power of two. So workers that train in step with each other keep the same ones, though
// each goes by its own clock.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numbers>

namespace trainwarden::capture {

// Of the thread that drives training. Times of a steady clock, steps of the mode.
class Pulse {
 public:
  static constexpr std::int64_t kIntervalNs = 1'000'000'000;
  // Of the training's time, for what the budget would not have allowed: about 1 / 400.
  static constexpr std::int64_t kTimesItsCost = 400;

  void switch_on(std::int64_t now_ns, std::int64_t step) {
    is_on_ = true;
    kept_ns_ = now_ns;
    kept_step_ = step;
  }
  // For the step that begins now.
  bool is_due(std::int64_t now_ns, std::int64_t step) const {
    if (!is_on_) return false;
    const std::int64_t passed_ns = now_ns - kept_ns_;
    if (distance_ == 0) return passed_ns >= kIntervalNs;
    if (passed_ns >= 4 * interval_ns_) return true;  // steps have become much longer
    return passed_ns >= kIntervalNs / 2 && step % distance_ == 0;
  }

  // What a step is kept for that begins.
  enum class Kept : std::uint8_t { kNot, kByItsInterval, kByThePulse };
  // `spent_ns`: by capture so far. What other steps cost is no matter: the first ones are dear.
  void begin_step(Kept kept, std::int64_t now_ns, std::int64_t step, std::int64_t spent_ns) {
    if (open_ == Kept::kByThePulse) cost_ns_ = spent_ns - spent_ns_;
    if (kept != Kept::kNot) {
      if (kept == Kept::kByThePulse) learn_distance(now_ns - kept_ns_, step - kept_step_);
      kept_ns_ = now_ns;
      kept_step_ = step;
    }
    open_ = kept;
    spent_ns_ = spent_ns;
  }

 private:
  void learn_distance(std::int64_t passed_ns, std::int64_t steps) {
    if (passed_ns < 1 || steps < 1) return;
    interval_ns_ = std::max(kIntervalNs, kTimesItsCost * cost_ns_);
    const double in_interval =
        static_cast<double>(steps) * static_cast<double>(interval_ns_) / static_cast<double>(passed_ns);
    const double nearest = std::clamp(in_interval * std::numbers::sqrt2, 1.0, 1e9);
    distance_ = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(nearest)));
  }

  bool is_on_ = false;
  std::int64_t distance_ = 0;  // from one to the next, in steps; 0: none has come yet
  std::int64_t interval_ns_ = kIntervalNs;
  std::int64_t kept_ns_ = 0;  // when the last step began that was kept for any reason
  std::int64_t kept_step_ = 0;
  Kept open_ = Kept::kNot;     // why the open step is kept
  std::int64_t spent_ns_ = 0;  // when it began
  std::int64_t cost_ns_ = 0;   // of the last one that was kept by the pulse
};

}  // namespace trainwarden::capture
