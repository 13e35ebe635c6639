#include "hook/capture/operators/operator_windows.h"

#include <limits>
#include <utility>

namespace trainwarden::capture {

RecordedSteps window_of(const OperatorWindow& options, std::int64_t first_global_step) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() - first_global_step;
  return {.first = first_global_step + std::min(options.first_step, most), .steps = options.steps, .key = {}};
}

bool OperatorWindows::add(RecordedSteps window) {
  if (windows_.size() == kMaxWindows) return false;
  windows_.push_back(std::move(window));
  return true;
}

void OperatorWindows::count(std::int64_t step, std::int64_t calls) {
  for (RecordedSteps& window : windows_) {
    if (window.holds(step)) window.calls += calls;
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
