#include "judge/rules/builtin/activations/activations_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> activations_rules() {
  return {activation_kurtosis(),     attention_collapse(),    dead_relu(),           poor_weight_initialization(),
          representation_collapse(), routing_concentration(), saturated_activation()};
}

}  // namespace trainwarden::rules
