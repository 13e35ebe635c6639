// StepTimes: how long each train step took, also each of those of which nothing is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "trainwarden/mode.h"

namespace trainwarden::capture {

// Of the thread that drives training. Costs nothing until it is switched on, and allocates nothing after that.
class StepTimes {
 public:
  // Of more steps than this the oldest are forgotten.
  static constexpr std::size_t kRemembered = 4096;

  bool is_on() const { return !seconds_.empty(); }
  void switch_on() { seconds_.resize(kRemembered); }

  // The next train step to end and those behind it, so many in all, take the time until its end together.
  void share(std::int64_t steps);
  // A step of this mode ends now. What lies between two train steps, as an evaluation does, belongs to the later one.
  void end_step(Mode mode, std::int64_t now_ns);

  // In seconds, the oldest first, of the train steps that ended since forget(). Valid until the next call.
  std::span<const float> newest();
  void forget() { count_ = 0; }

 private:
  void add(std::int64_t took_ns);

  std::vector<float> seconds_;  // a ring
  std::size_t next_ = 0;        // where the next one goes
  std::size_t count_ = 0;
  std::int64_t ended_ns_ = 0;  // 0: no train step has ended yet
  std::int64_t sharing_ = 0;   // steps that take shared_ns_ each, when it is known
  std::optional<std::int64_t> shared_ns_;
};

}  // namespace trainwarden::capture
