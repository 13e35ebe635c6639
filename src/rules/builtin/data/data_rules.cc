#include "rules/builtin/data/data_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> data_rules() {
  return {class_imbalance(), confusion(), duplicate_batch(), softmax_loss_mismatch()};
}

}  // namespace trainwarden::rules
