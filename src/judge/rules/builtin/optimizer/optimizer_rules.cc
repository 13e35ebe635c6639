#include "judge/rules/builtin/optimizer/optimizer_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> optimizer_rules() {
  return {adam_epsilon(), clipping_always(),   gradient_by_depth(),  gradient_spike(),     learning_rate_jump(),
          no_op_update(), non_finite_origin(), vanishing_gradient(), weight_update_ratio()};
}

}  // namespace trainwarden::rules
