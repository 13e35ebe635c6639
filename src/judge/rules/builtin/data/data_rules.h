// Rules about inputs, labels and predictions. One file each.
#pragma once

#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

RuleKind check_input_images();
RuleKind class_imbalance();
RuleKind confusion();
RuleKind degenerate_predictions();
RuleKind duplicate_batch();
RuleKind input_normalisation();
RuleKind nlp_sequence_ratio();
RuleKind softmax_loss_mismatch();
RuleKind unshuffled_labels();

std::vector<RuleKind> data_rules();

}  // namespace trainwarden::rules
