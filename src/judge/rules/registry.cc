#include "judge/rules/registry.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/no_throw.h"
#include "core/base/spec_text.h"
#include "core/base/text.h"
#include "judge/rules/builtin/activations/activations_rules.h"
#include "judge/rules/builtin/data/data_rules.h"
#include "judge/rules/builtin/losses/losses_rules.h"
#include "judge/rules/builtin/optimizer/optimizer_rules.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/tensors/tensors_rules.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/builtin/trees/trees_rules.h"
#include "judge/rules/ranged_rule.h"

namespace trainwarden {
namespace {

// What these judge by lies beside the run, or they say where: they are made for who sits at the machine, and for no
// request. A rule that opens a file belongs here, which scripts/check_floors.py checks.
std::vector<RuleKind> file_rules() {
  return {rules::similar_across_runs(), rules::checkpoint_integrity()};
}

std::vector<RuleKind> run_rules() {
  std::vector<RuleKind> all;
  for (auto* rules_of_subject :
       {rules::activations_rules, rules::data_rules, rules::losses_rules, rules::optimizer_rules, rules::profiler_rules,
        rules::tensors_rules, rules::training_rules, rules::trees_rules}) {
    auto kinds = rules_of_subject();
    std::move(kinds.begin(), kinds.end(), std::back_inserter(all));
  }
  return all;
}

std::vector<RuleKind> all_rules() {
  std::vector<RuleKind> all = run_rules();
  auto kinds = file_rules();
  std::move(kinds.begin(), kinds.end(), std::back_inserter(all));
  std::sort(all.begin(), all.end(),
            [](const RuleKind& a, const RuleKind& b) { return a.description.name < b.description.name; });
  return all;
}

const RuleKind* find_in(const std::vector<RuleKind>& kinds, std::string_view name) {
  const auto found =
      std::find_if(kinds.begin(), kinds.end(), [&](const RuleKind& kind) { return kind.description.name == name; });
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace

const std::vector<RuleKind>& builtin_rules() {
  static const std::vector<RuleKind> kRules = all_rules();
  return kRules;
}

namespace rules {

const RuleKind* find_builtin(std::string_view name) {
  return find_in(builtin_rules(), name);
}

bool is_goal(std::string_view name) {
  const RuleKind* const kind = find_builtin(name);
  return kind != nullptr && kind->description.is_goal;
}

const RuleKind* find_run_rule(std::string_view name) {
  static const std::vector<RuleKind> kRules = run_rules();
  return find_in(kRules, name);
}

Status check_declared(const RuleKind& kind, std::string_view parameter) {
  std::vector<std::string> known;
  for (const RuleParameter& declared : kind.description.parameters) known.push_back(declared.name);
  for (const RuleParameter& declared : common_parameters()) {
    if (std::find(known.begin(), known.end(), declared.name) == known.end()) known.push_back(declared.name);
  }
  if (std::find(known.begin(), known.end(), parameter) != known.end()) return {};
  if (kind.description.name == kProfilerReport) return check_report_parameter(parameter);
  std::string hint = did_you_mean(parameter, known);
  if (hint.empty()) hint = fmt::format("; its parameters are {}", fmt::join(known, ", "));
  return Status(Code::kInvalidArgument,
                fmt::format("rule {} has no parameter \"{}\"{}", kind.description.name, printable(parameter), hint));
}

Result<std::unique_ptr<Rule>> create_builtin(const RuleKind& kind, RuleParameters parameters) {
  return no_throw([&]() -> Result<std::unique_ptr<Rule>> {
    for (const auto& [name, value] : parameters) TRAINWARDEN_RETURN_IF_ERROR(check_declared(kind, name));
    for (const RuleParameter& parameter : kind.description.parameters) {
      parameters.emplace(parameter.name, parameter.default_value);
    }
    auto rule = create_ranged_rule(kind, std::move(parameters));
    return rule.ok() ? std::move(rule) : rule.status().with_context(kind.description.name);
  });
}

}  // namespace rules
}  // namespace trainwarden
