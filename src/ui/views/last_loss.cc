#include "ui/views/last_loss.h"

namespace trainwarden::views {

std::optional<LossNow> last_loss(Trial& trial) {
  const auto names = trial.tensor_names({.include = {}, .collection = "losses", .mode = {}, .step = {}});
  if (!names.ok()) return std::nullopt;
  std::optional<LossNow> newest;
  for (const std::string& name : *names) {
    const std::vector<std::int64_t> steps = trial.steps_of(name, Mode::kGlobal, Kept::kScalar | Kept::kValue);
    if (steps.empty() || (newest && steps.back() <= newest->step)) continue;
    const auto value = trial.scalar(name, steps.back());
    if (value.ok()) newest = LossNow{name, steps.back(), *value};
  }
  return newest;
}

}  // namespace trainwarden::views
