// The rules that exist.
#include "rules/builtin/builtin_rules.h"
#include "trainwarden/rule.h"

namespace trainwarden {

const std::vector<RuleKind>& builtin_rules() {
  static const std::vector<RuleKind> kRules = {
      rules::exploding_tensor(),
      rules::loss_not_decreasing(),
      rules::vanishing_gradient(),
  };
  return kRules;
}

}  // namespace trainwarden
