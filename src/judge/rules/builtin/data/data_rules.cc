#include "judge/rules/builtin/data/data_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> data_rules() {
  return {check_input_images(),     class_imbalance(),       confusion(),
          degenerate_predictions(), duplicate_batch(),       input_normalisation(),
          nlp_sequence_ratio(),     softmax_loss_mismatch(), unshuffled_labels()};
}

}  // namespace trainwarden::rules
