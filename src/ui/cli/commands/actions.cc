// `trainwarden actions`: the actions that exist; what an action file would do; whether its actions arrive.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/action_choice.h"
#include "ui/cli/options/action_file.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/action_reference.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct ActionsOptions {
  std::string name;  // of an action; with --test of a subscription
  std::string check;
  std::string test;
  std::vector<std::string> rules;  // of the user's own, which the file may name
  bool markdown = false;
  bool json = false;
};

OrderedJson json_of(const actions::ActionKind& kind) {
  OrderedJson parameters = OrderedJson::array();
  for (const actions::ActionParameterDescription& parameter : kind.parameters) {
    parameters.push_back({{"name", parameter.name},
                          {"default", parameter.default_value},
                          {"required", parameter.required},
                          {"description", parameter.description}});
  }
  return {{"name", kind.name}, {"summary", kind.summary}, {"parameters", parameters}};
}

void print_kind(const actions::ActionKind& kind) {
  emit("{}\n  {}\n\n", kind.name, Lines{kind.summary});
  Table table({{"PARAMETER"}, {"DEFAULT"}, {"MEANING"}});
  for (const actions::ActionParameterDescription& parameter : kind.parameters) {
    const std::string value = parameter.default_value.empty() ? "-" : parameter.default_value;
    table.add_row({parameter.name, parameter.required ? "(required)" : value, parameter.description});
  }
  if (!table.empty()) emit("{}\n", Lines{table.to_string()});
  emit("Use it with --on-fire {}[:PARAMETER=VALUE,...] of `run` and `watch`, or in a file: --actions FILE.\n",
       kind.name);
}

void print_kinds(const std::vector<actions::ActionKind>& kinds) {
  Table table({{"ACTION"}, {"WHAT"}, {"PARAMETERS"}});
  for (const actions::ActionKind& kind : kinds) {
    std::vector<std::string> names;
    for (const auto& parameter : kind.parameters) names.push_back(parameter.name);
    table.add_row({kind.name, kind.summary, fmt::format("{}", fmt::join(names, ", "))});
  }
  emit("{}\n", Lines{table.to_string()});
  emit(
      "`{0} actions NAME` describes one. Wire them to rules with --on-fire ACTION[:PARAMETER=VALUE,...] of "
      "`run`\n"
      "and `watch`, or in a file with --actions FILE; `{0} actions --check FILE` says what such a file would do.\n",
      typed_program());
}

int list_kinds(const ActionsOptions& options) {
  const auto& all = all_action_kinds();
  std::vector<actions::ActionKind> chosen;
  std::vector<std::string> names;
  for (const actions::ActionKind& kind : all) {
    names.push_back(kind.name);
    if (options.name.empty() || kind.name == options.name) chosen.push_back(kind);
  }
  if (chosen.empty()) {
    return report_error(Status(Code::kInvalidArgument,
                               fmt::format("there is no action \"{}\"{} (there are {})", printable(options.name),
                                           did_you_mean(options.name, names), fmt::join(names, ", "))));
  }
  if (options.json) {
    OrderedJson list = OrderedJson::array();
    for (const actions::ActionKind& kind : chosen) list.push_back(json_of(kind));
    print_json({{"actions", list}});
  } else if (options.name.empty()) {
    print_kinds(chosen);
  } else {
    print_kind(chosen.front());
  }
  return kExitFine;
}

int act(const ActionsOptions& options) {
  if (options.markdown) {
    emit("{}", Lines{action_reference(all_action_kinds())});
    return kExitFine;
  }
  if (!options.check.empty()) return check_action_file(options.check, options.rules, options.json);
  if (!options.test.empty()) return test_action_file(options.test, options.name, options.rules, options.json);
  return list_kinds(options);
}

}  // namespace

void add_actions(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<ActionsOptions>();
  ActionsOptions& o = *options;
  CLI::App& command =
      add_command(app, "actions", "List the actions that exist; check or test a file of them", options, action, act);
  command.group(kJudgeGroup);
  command.add_option("NAME", o.name, "An action: all about it. With --test: a subscription of the file")->type_name("");
  auto* check =
      command.add_option("--check", o.check, "What this action file would do, and on what")->type_name("FILE");
  command
      .add_option("--test", o.test,
                  "Send an alert that says it is a test to each subscription of this file, but those that need a "
                  "training")
      ->type_name("FILE")
      ->excludes(check);
  add_words(command, "--rule", o.rules, "A rule of your own that the file may name, as --rule of `run` has it")
      ->type_name("RULE");
  command.add_flag("--markdown", o.markdown, "The reference of all actions, as it is in docs/reference");
  add_json_flag(command, o.json);
  set_examples(command,
               {"trainwarden actions", "trainwarden actions webhook", "trainwarden actions --check actions.toml",
                "trainwarden actions --check actions.toml --rule my_rules.py:MyRule",
                "trainwarden actions --test actions.toml ops"});
}

}  // namespace trainwarden::cli
