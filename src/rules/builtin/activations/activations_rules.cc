#include "rules/builtin/activations/activations_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> activations_rules() {
  return {};
}

}  // namespace trainwarden::rules
