#include "judge/rules/builtin/training/training_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> training_rules() {
  return {amp_overflow(),          call_order(),        diagnosis_of_training(), forgotten_parameter(), hang(),
          memory_leak(),           missing_zero_grad(), mode_mistake(),          replica_divergence(),  straggler(),
          stalled_training_rule(), target_reached()};
}

}  // namespace trainwarden::rules
