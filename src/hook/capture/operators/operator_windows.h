// OperatorWindows: the steps whose operator calls are wanted, by the options and by who asks for them later.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hook/capture/operators/call_log.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// Global steps, from `first` on.
struct RecordedSteps {
  std::int64_t first = 0;
  std::int64_t steps = 0;
  std::string key;                      // of the request that asks for it; empty: the options do
  std::int64_t room = kMaxWindowCalls;  // for calls; where there is too little the window is over
  std::int64_t calls = 0;               // that were recorded in it

  bool holds(std::int64_t step) const { return step >= first && !is_over(step); }
  bool is_over(std::int64_t step) const {
    return step >= first && (step - first >= steps || room < static_cast<std::int64_t>(CallLog::kPieceCalls));
  }
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
  // Room for calls in the step; 0: it is not wanted.
  std::int64_t room(std::int64_t step) const;
  // In some window that holds the step calls were recorded before.
  bool has_calls(std::int64_t step) const;
  // So many calls were logged in the step, and so many of them are kept.
  void count(std::int64_t step, std::int64_t logged, std::int64_t kept);
  // Those that are over at this step, which are forgotten; all of them.
  std::vector<RecordedSteps> take_over(std::int64_t step);
  std::vector<RecordedSteps> take_all() { return std::exchange(windows_, {}); }

 private:
  std::vector<RecordedSteps> windows_;
};

}  // namespace trainwarden::capture
