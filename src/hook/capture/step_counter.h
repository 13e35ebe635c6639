// StepCounter: which step the training is at, over all modes and within each.
//
// Source of the counting: smdebug. The global step counts all steps of the program, the mode's step those of the mode;
// in kGlobal (no mode was ever set) the two are the same.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "trainwarden/mode.h"

namespace trainwarden::capture {

struct StepId {
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
};

// The thread that drives training changes it; any thread may look.
class StepCounter {
 public:
  StepId current() const {
    const Mode mode = mode_.load(std::memory_order_relaxed);
    const std::int64_t global_step = global_step_.load(std::memory_order_relaxed);
    return {global_step, mode, mode == Mode::kGlobal ? global_step : mode_steps_[index_of(mode)].load()};
  }
  void start_at(std::int64_t global_step, const std::array<std::int64_t, 4>& mode_steps) {
    global_step_ = global_step;
    for (std::size_t i = 0; i < mode_steps.size(); ++i) mode_steps_[i] = mode_steps[i];
  }
  void set_mode(Mode mode) { mode_.store(mode, std::memory_order_relaxed); }
  void advance() {
    ++mode_steps_[index_of(mode_.load(std::memory_order_relaxed))];
    ++global_step_;
  }

 private:
  std::atomic<Mode> mode_ = Mode::kGlobal;
  std::atomic<std::int64_t> global_step_ = 0;
  std::array<std::atomic<std::int64_t>, 4> mode_steps_{};
};

}  // namespace trainwarden::capture
