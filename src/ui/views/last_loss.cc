#include "ui/views/last_loss.h"

#include "read/trial/trial_access.h"

namespace trainwarden::views {

std::optional<LossNow> last_loss(Trial& trial) {
  const auto names = trial.tensor_names({.include = {}, .collection = "losses", .mode = {}, .step = {}});
  if (!names.ok()) return std::nullopt;
  std::optional<LossNow> newest;
  for (const std::string& name : *names) {
    const auto step = TrialAccess::newest_step_of(trial, name, Kept::kScalar | Kept::kValue);
    if (!step || (newest && *step <= newest->step)) continue;
    const auto value = trial.scalar(name, *step);
    if (value.ok()) newest = LossNow{name, *step, *value};
  }
  return newest;
}

}  // namespace trainwarden::views
