#include "ui/cli/options/guard_environment.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/hook_variables.h"
#include "core/base/text.h"
#include "judge/rules/registry.h"
#include "react/delivery/wiring.h"

namespace trainwarden::cli {
namespace {

constexpr const char* kDefaultRules = "default";

void divide_defaults(RulePlaces& places) {
  for (const RuleKind& kind : builtin_rules()) {
    if (!kind.description.by_default) continue;
    (kind.description.in_process ? places.inside : places.beside).push_back(kind.description.name);
  }
}

}  // namespace

Result<RulePlaces> divide_rules(const std::vector<std::string>& words, const std::vector<std::string>& wanted) {
  const bool any = std::find(wanted.begin(), wanted.end(), "*") != wanted.end();
  RulePlaces places;
  for (const std::string& word : words) {
    if (word == kDefaultRules) {
      divide_defaults(places);
      continue;
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const RuleSpec spec, parse_rule_spec(word));
    const RuleKind* const kind = rules::find_builtin(spec.name);
    // A line of text can judge inside, a rule of a file has a process of its own.
    const bool able = kind != nullptr ? kind->description.in_process : Guard::parse_rules({word}).ok();
    const bool named = delivery::names_rule(wanted, spec.name);
    if (!able && named && !any) {
      return Status(Code::kInvalidArgument,
                    fmt::format("rule {} cannot judge inside the training, so no step can be left out for it; "
                                "`trainwarden rules {}` says what it needs",
                                printable(spec.name), printable(spec.name)));
    }
    (able && named ? places.inside : places.beside).push_back(word);
  }
  return places;
}

Result<std::map<std::string, std::string>> guard_environment(const std::vector<std::string>& inside, OnFire on_fire,
                                                             const std::vector<std::string>& mute) {
  std::map<std::string, std::string> environment;
  if (inside.empty()) return environment;
  TRAINWARDEN_RETURN_IF_ERROR(Guard::parse_rules(inside).status());
  for (const std::string& word : inside) {
    if (word.find('\n') == std::string::npos) continue;
    return Status(Code::kInvalidArgument, fmt::format("rule {} has more than one line", printable(word)));
  }
  environment[variable::kGuardRules] = fmt::format("{}", fmt::join(inside, "\n"));
  environment[variable::kOnFire] = name(on_fire);
  if (!mute.empty()) environment[variable::kMute] = fmt::format("{}", fmt::join(mute, "\n"));
  return environment;
}

}  // namespace trainwarden::cli
