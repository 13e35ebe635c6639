#include "judge/rules/builtin/tensors/tensors_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> tensors_rules() {
  return {all_zero(), exploding_tensor(), overflow_risk(), tensor_variance(), unchanged_tensor()};
}

}  // namespace trainwarden::rules
