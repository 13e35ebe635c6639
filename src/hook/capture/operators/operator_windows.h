// OperatorWindows: the steps whose operator calls are wanted, by the options and by who asks for them later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "trainwarden/hook.h"

namespace trainwarden::capture {

// Global steps, from `first` on.
struct RecordedSteps {
  std::int64_t first = 0;
  std::int64_t steps = 0;
  std::string key;         // of the request that asks for it; empty: the options do
  std::int64_t calls = 0;  // that were recorded in it

  bool holds(std::int64_t step) const { return step >= first && step - first < steps; }
  bool is_over(std::int64_t step) const { return step >= first && step - first >= steps; }
};

// The one that the options ask for, of a process that begins at this step.
RecordedSteps window_of(const OperatorWindow& options, std::int64_t first_global_step);

// By the thread that drives training.
class OperatorWindows {
 public:
  static constexpr std::size_t kMaxWindows = 64;  // that are not over

  // False: there are too many.
  bool add(RecordedSteps window);
  bool holds(std::int64_t step) const {
    return std::any_of(windows_.begin(), windows_.end(), [&](const RecordedSteps& each) { return each.holds(step); });
  }
  // So many calls were recorded in the step.
  void count(std::int64_t step, std::int64_t calls);
  // Those that are over at this step, which are forgotten; all of them.
  std::vector<RecordedSteps> take_over(std::int64_t step);
  std::vector<RecordedSteps> take_all() { return std::exchange(windows_, {}); }

 private:
  std::vector<RecordedSteps> windows_;
};

}  // namespace trainwarden::capture
