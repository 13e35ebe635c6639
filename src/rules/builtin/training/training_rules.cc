#include "rules/builtin/training/training_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> training_rules() {
  return {call_order(), hang(), missing_zero_grad(), stalled_training_rule()};
}

}  // namespace trainwarden::rules
