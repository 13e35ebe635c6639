// Rule specs: which rule a user means, and with which parameters.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/no_throw.h"
#include "core/base/spec_text.h"
#include "core/base/text.h"
#include "judge/rules/hosting/hosted_rule.h"
#include "judge/rules/language/expression_rule.h"
#include "judge/rules/ranged_rule.h"
#include "judge/rules/registry.h"
#include "trainwarden/rule.h"

namespace trainwarden {
namespace {

// "VanishingGradient", "vanishing_gradient" and "vanishing-gradient" are the same rule.
std::string folded(std::string_view name) {
  std::string text = lower(name);
  std::erase_if(text, [](char c) { return c == '_' || c == '-'; });
  return text;
}

Result<const RuleKind*> find_kind(std::string_view name) {
  const std::string wanted = folded(name);
  std::vector<std::string> names;
  std::vector<std::string> folded_names;
  for (const RuleKind& kind : builtin_rules()) {
    if (folded(kind.description.name) == wanted) return &kind;
    names.push_back(kind.description.name);
    folded_names.push_back(folded(kind.description.name));
  }
  std::string hint;
  if (const auto near = nearest(wanted, folded_names)) {
    const auto place = std::find(folded_names.begin(), folded_names.end(), *near) - folded_names.begin();
    hint = fmt::format("; did you mean \"{}\"?", names[static_cast<std::size_t>(place)]);
  }
  if (hint.empty()) hint = fmt::format("; the rules are {}", fmt::join(names, ", "));
  return Status(Code::kInvalidArgument, fmt::format("there is no rule \"{}\"{}", printable(name), hint));
}

// What begins with the name of a rule that exists means that rule, whatever follows.
bool begins_with_rule(std::string_view text) {
  text = trim(text);
  const std::string name = folded(text.substr(0, text.find_first_of(" \t\r\n:(<>=!")));
  return std::any_of(builtin_rules().begin(), builtin_rules().end(),
                     [&](const RuleKind& kind) { return folded(kind.description.name) == name; });
}

}  // namespace

Result<RuleSpec> parse_rule_spec(std::string_view text) {
  return no_throw([&]() -> Result<RuleSpec> {
    if (rules::names_rule_file(text)) return rules::parse_hosted_spec(text);
    if (rules::language::reads_like_expression(text) && !begins_with_rule(text)) {
      return rules::language::parse_expression_spec(text);
    }
    if (trim(text) == "*") {
      return Status(
          Code::kInvalidArgument,
          "\"*\" is no rule: --rules default takes those that suit every training, --rules all every rule that "
          "needs no parameter");
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const SpecText words, split_spec(text, "rule"));
    TRAINWARDEN_ASSIGN_OR_RETURN(const RuleKind* kind, find_kind(words.name));
    RuleSpec spec{kind->description.name, {}};
    for (const auto& [name, value] : words.parameters) {
      TRAINWARDEN_RETURN_IF_ERROR(rules::check_declared(*kind, name));
      if (spec.parameters.emplace(name, value).second) continue;
      return Status(Code::kInvalidArgument, fmt::format("rule {} is given {} twice", spec.name, name));
    }
    return spec;
  });
}

Result<std::unique_ptr<Rule>> create_rule(const RuleSpec& spec) {
  return no_throw([&]() -> Result<std::unique_ptr<Rule>> {
    if (rules::is_hosted_spec(spec)) {
      TRAINWARDEN_RETURN_IF_ERROR(rules::check_cause(spec.parameters));
      RuleSpec own = spec;
      own.parameters.erase(rules::kCauseParameter);  // which is ours, not the rule's
      return rules::create_hosted_rule(own);
    }
    if (rules::language::is_expression_spec(spec) && rules::find_builtin(spec.name) == nullptr) {
      return rules::language::create_expression_rule(spec.parameters.at(rules::language::kExpressionParameter));
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const RuleKind* kind, find_kind(spec.name));
    return rules::create_builtin(*kind, spec.parameters);
  });
}

}  // namespace trainwarden
