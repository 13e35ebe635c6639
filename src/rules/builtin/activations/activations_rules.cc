#include "rules/builtin/activations/activations_rules.h"

namespace trainwarden::rules {

std::vector<RuleKind> activations_rules() {
  return {dead_relu(), saturated_activation()};
}

}  // namespace trainwarden::rules
