#include "hook/capture/operators/operator_windows.h"

#include <limits>
#include <utility>

namespace trainwarden::capture {

RecordedSteps window_of(const OperatorWindow& options, std::int64_t first_global_step) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - first_global_step;
  return {.first = first_global_step + std::min(options.first_step, most),
          .steps = options.steps,
          .key = {},
          .room = options.max_calls};
}

bool OperatorWindows::add(RecordedSteps window) {
  if (windows_.size() == kMaxWindows) return false;
  windows_.push_back(std::move(window));
  return true;
}

std::int64_t OperatorWindows::room(std::int64_t step) const {
  std::int64_t most = 0;
  for (const RecordedSteps& window : windows_) {
    if (window.holds(step)) most = std::max(most, window.room);
  }
  return most;
}

bool OperatorWindows::has_calls(std::int64_t step) const {
  return std::any_of(windows_.begin(), windows_.end(),
                     [&](const RecordedSteps& window) { return window.holds(step) && window.calls > 0; });
}

void OperatorWindows::count(std::int64_t step, std::int64_t logged, std::int64_t kept) {
  for (RecordedSteps& window : windows_) {
    if (!window.holds(step)) continue;
    window.calls += kept;
    window.room -= logged;
  }
}

std::vector<RecordedSteps> OperatorWindows::take_over(std::int64_t step) {
  std::vector<RecordedSteps> over;
  std::erase_if(windows_, [&](RecordedSteps& window) {
    if (!window.is_over(step)) return false;
    over.push_back(std::move(window));
    return true;
  });
  return over;
}

}  // namespace trainwarden::capture
