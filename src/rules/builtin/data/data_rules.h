// Rules about inputs, labels and predictions. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind class_imbalance();
RuleKind confusion();
RuleKind duplicate_batch();
RuleKind softmax_loss_mismatch();

std::vector<RuleKind> data_rules();

}  // namespace trainwarden::rules
