#include "rules/builtin/tensors/tensors_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> tensors_rules() {
  return {exploding_tensor()};
}

}  // namespace trainwarden::rules
