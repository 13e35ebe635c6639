#include "judge/rules/builtin/losses/losses_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> losses_rules() {
  return {divergence(),          initial_loss(), logit_drift(), loss_drift(),
          loss_not_decreasing(), loss_spike(),   overfit(),     overtraining()};
}

}  // namespace trainwarden::rules
