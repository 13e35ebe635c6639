#include "rules/builtin/data/data_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> data_rules() {
  return {};
}

}  // namespace trainwarden::rules
