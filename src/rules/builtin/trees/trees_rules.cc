#include "rules/builtin/trees/trees_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> trees_rules() {
  return {};
}

}  // namespace trainwarden::rules
