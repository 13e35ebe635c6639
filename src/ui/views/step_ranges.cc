#include "ui/views/step_ranges.h"

namespace trainwarden::views {

void StepFolder::add(std::int64_t step) {
  if (!ranges_.empty()) {
    StridedSteps& last = ranges_.back();
    if (last.count == 1) last.stride = step - last.first;
    if (step == last.first + last.stride * last.count) {
      ++last.count;
      return;
    }
  }
  ranges_.push_back({step, 1, 1});
}

std::vector<StridedSteps> fold_steps(std::span<const std::int64_t> steps) {
  StepFolder folder;
  for (const std::int64_t step : steps) folder.add(step);
  return folder.ranges();
}

}  // namespace trainwarden::views
