#include "rules/builtin/training/training_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> training_rules() {
  return {};
}

}  // namespace trainwarden::rules
