#include "ui/views/nearest_step.h"

#include <algorithm>
#include <iterator>

namespace trainwarden::views {

std::optional<std::int64_t> nearest_step(std::span<const std::int64_t> steps, std::int64_t step) {
  if (steps.empty()) return std::nullopt;
  const auto after = std::lower_bound(steps.begin(), steps.end(), step);
  if (after == steps.end()) return steps.back();
  if (after == steps.begin()) return steps.front();
  const std::int64_t before = *std::prev(after);
  return step - before <= *after - step ? before : *after;
}

}  // namespace trainwarden::views
