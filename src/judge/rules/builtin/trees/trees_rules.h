// Rules about boosted trees. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind create_xgboost_report();
RuleKind feature_importance_overweight();
RuleKind tree_depth();

std::vector<RuleKind> trees_rules();

}  // namespace trainwarden::rules
