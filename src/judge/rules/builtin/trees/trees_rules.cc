#include "judge/rules/builtin/trees/trees_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> trees_rules() {
  return {create_xgboost_report(), feature_importance_overweight(), tree_depth()};
}

}  // namespace trainwarden::rules
