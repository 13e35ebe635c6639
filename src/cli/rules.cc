// `trainwarden rules`: the rules that exist, their parameters and defaults.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/json_out.h"
#include "cli/table.h"
#include "trainwarden/rule.h"

namespace trainwarden::cli {
namespace {

struct RulesOptions {
  std::string name;
  bool json = false;
};

// All rules, or the one that was named.
Result<std::vector<RuleDescription>> choose_rules(const std::string& name) {
  std::string wanted;
  if (!name.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const RuleSpec spec, parse_rule_spec(name));
    wanted = spec.name;
  }
  std::vector<RuleDescription> chosen;
  for (const RuleKind& kind : builtin_rules()) {
    if (wanted.empty() || wanted == kind.description.name) chosen.push_back(kind.description);
  }
  return chosen;
}

void print_as_json(const std::vector<RuleDescription>& rules) {
  Json list = Json::array();
  for (const RuleDescription& rule : rules) {
    Json parameters = Json::array();
    for (const RuleParameter& parameter : rule.parameters) {
      parameters.push_back(
          {{"name", parameter.name}, {"default", parameter.default_value}, {"description", parameter.description}});
    }
    list.push_back({{"name", rule.name}, {"summary", rule.summary}, {"parameters", parameters}});
  }
  print_json({{"rules", list}});
}

void print_for_people(const std::vector<RuleDescription>& rules) {
  for (const RuleDescription& rule : rules) {
    fmt::print("{}\n  {}\n", rule.name, rule.summary);
    Table table({{"    PARAMETER"}, {"DEFAULT"}, {"MEANING"}});
    for (const RuleParameter& parameter : rule.parameters) {
      const std::string value = parameter.default_value.empty() ? "-" : parameter.default_value;
      table.add_row({"    " + parameter.name, value, parameter.description});
    }
    fmt::print("{}\n", table.empty() ? "" : table.to_string());
  }
  fmt::print("Use one with --rule NAME[:PARAMETER=VALUE,...] of `check`, `watch` and `run`.\n");
}

int act(const RulesOptions& options) {
  const auto rules = choose_rules(options.name);
  if (!rules.ok()) return report_error(rules.status());
  if (options.json) {
    print_as_json(*rules);
  } else {
    print_for_people(*rules);
  }
  return kExitFine;
}

}  // namespace

void add_rules(CLI::App& app, Action& action) {
  auto options = std::make_shared<RulesOptions>();
  RulesOptions& o = *options;
  CLI::App& command =
      add_command(app, "rules", "List the rules that exist, with parameters and defaults", options, action, act);
  command.group(kJudgeGroup);
  command.add_option("NAME", o.name, "Only this rule")->type_name("");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden rules", "trainwarden rules VanishingGradient",
                         "trainwarden rules --json | jq -r '.rules[].name'"});
}

}  // namespace trainwarden::cli
