#include "ui/views/thinned_steps.h"

#include <algorithm>

namespace trainwarden::views {

std::vector<std::int64_t> thinned_steps(std::span<const std::int64_t> steps, std::size_t most) {
  std::size_t every = 1;
  while (steps.size() / every > std::max<std::size_t>(most, 1)) every *= 2;
  std::vector<std::int64_t> chosen;
  for (std::size_t i = 0; i < steps.size(); i += every) chosen.push_back(steps[i]);
  if (!steps.empty() && chosen.back() != steps.back()) chosen.push_back(steps.back());
  return chosen;
}

}  // namespace trainwarden::views
