#include "rules/builtin/losses/losses_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> losses_rules() {
  return {loss_not_decreasing(), loss_spike()};
}

}  // namespace trainwarden::rules
