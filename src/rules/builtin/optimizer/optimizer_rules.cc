#include "rules/builtin/optimizer/optimizer_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> optimizer_rules() {
  return {vanishing_gradient()};
}

}  // namespace trainwarden::rules
