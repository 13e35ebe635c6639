#include "rules/builtin/optimizer/optimizer_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> optimizer_rules() {
  return {gradient_spike(), non_finite_origin(), vanishing_gradient()};
}

}  // namespace trainwarden::rules
