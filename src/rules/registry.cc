#include "rules/registry.h"

#include <algorithm>
#include <iterator>

#include "rules/builtin/activations/activations_rules.h"
#include "rules/builtin/data/data_rules.h"
#include "rules/builtin/losses/losses_rules.h"
#include "rules/builtin/optimizer/optimizer_rules.h"
#include "rules/builtin/tensors/tensors_rules.h"
#include "rules/builtin/training/training_rules.h"
#include "rules/builtin/trees/trees_rules.h"

namespace trainwarden {
namespace {

std::vector<RuleKind> all_rules() {
  std::vector<RuleKind> all;
  for (auto* room : {rules::activations_rules, rules::data_rules, rules::losses_rules, rules::optimizer_rules,
                     rules::tensors_rules, rules::training_rules, rules::trees_rules}) {
    auto kinds = room();
    std::move(kinds.begin(), kinds.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(),
            [](const RuleKind& a, const RuleKind& b) { return a.description.name < b.description.name; });
  return all;
}

}  // namespace

const std::vector<RuleKind>& builtin_rules() {
  static const std::vector<RuleKind> kRules = all_rules();
  return kRules;
}

namespace rules {

const RuleKind* find_builtin(std::string_view name) {
  const auto& kinds = builtin_rules();
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const RuleKind& kind) { return kind.description.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace rules
}  // namespace trainwarden
