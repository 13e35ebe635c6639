// `trainwarden rules`: the rules that exist; what they need to be captured; where those of a run stand.
#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/diagnosis/causes.h"
#include "trainwarden/rule.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/needs_view.h"
#include "ui/cli/reports/rule_reference.h"
#include "ui/cli/reports/run_rules_view.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct RulesOptions {
  std::string name;  // of a rule, or of a run
  std::string folder;
  RuleChoice rules;
  bool plan = false;
  std::string on_run;
  bool markdown = false;
  bool causes = false;
  bool json = false;
};

std::vector<RuleDescription> descriptions(const std::string& only) {
  std::vector<RuleDescription> chosen;
  for (const RuleKind& kind : builtin_rules()) {
    if (only.empty() || only == kind.description.name) chosen.push_back(kind.description);
  }
  return chosen;
}

void print_as_json(const std::vector<RuleDescription>& rules) {
  OrderedJson list = OrderedJson::array();
  for (const RuleDescription& rule : rules) {
    OrderedJson parameters = OrderedJson::array();
    for (const RuleParameter& parameter : rule.parameters) {
      parameters.push_back(
          {{"name", parameter.name}, {"default", parameter.default_value}, {"description", parameter.description}});
    }
    list.push_back({{"name", rule.name},
                    {"summary", rule.summary},
                    {"topic", rule.topic},
                    {"by_default", rule.by_default},
                    {"profiles", rule.profiles},
                    {"in_process", rule.in_process},
                    {"consequences", rule.consequences},
                    {"source", rule.source},
                    {"parameters", parameters}});
  }
  print_json({{"rules", list}});
}

// All of them: a line each.
void print_list(const std::vector<RuleDescription>& rules) {
  Table table({{"RULE"}, {"DEFAULT"}, {"ABOUT"}, {"WHAT"}});
  for (const RuleDescription& rule : rules) {
    table.add_row({rule.name, rule.by_default ? "yes" : "-", rule.topic, rule.summary});
  }
  emit("{}\n", Lines{table.to_string()});
  emit(
      "`{0} rules NAME` describes one. Use one with --rule NAME[:PARAMETER=VALUE,...] of `check`, `watch`\n"
      "and `run`; --rules default takes those marked yes.\n",
      typed_program());
}

void print_one(const RuleDescription& rule) {
  emit("{}\n  {}\n\n", rule.name, Lines{rule.summary});
  if (!rule.details.empty()) emit("{}\n\n", Lines{rule.details});
  if (rule.is_symptom) emit("A symptom: beside the rule Diagnosis, where the training is examined, it is a note.\n\n");
  if (rule.is_goal)
    emit(
        "A goal, no fault: what it finds is a note, which changes no status and no exit code, and yet starts "
        "actions.\n\n");
  Table table({{"PARAMETER"}, {"DEFAULT"}, {"MEANING"}});
  for (const RuleParameter& parameter : rule.parameters) {
    table.add_row(
        {parameter.name, parameter.default_value.empty() ? "-" : parameter.default_value, parameter.description});
  }
  if (!table.empty()) emit("{}\n", Lines{table.to_string()});
  emit("{} of --rules default. {} judge inside the training.\n", rule.by_default ? "One" : "Not one",
       rule.in_process ? "It can" : "It cannot");
  if (!rule.source.empty()) emit("Source: {}\n", rule.source);
}

// The causes that a diagnosis can name, which a rule may speak for.
void print_causes(bool json) {
  if (!json) {
    Table table({{"CAUSE"}, {"WHAT"}, {"NEXT STEP"}});
    for (const diagnosis::Cause& cause : diagnosis::causes())
      table.add_row({std::string(cause.name), std::string(cause.title), std::string(cause.next_step)});
    emit("{}", Lines{table.to_string()});
    return;
  }
  OrderedJson list = OrderedJson::array();
  for (const diagnosis::Cause& cause : diagnosis::causes()) {
    list.push_back({{"cause", cause.name},
                    {"title", cause.title},
                    {"next_step", cause.next_step},
                    {"source", cause.source},
                    {"consequences", cause.explains}});
  }
  print_json({{"causes", list}});
}

int print_plan(const RulesOptions& options) {
  const auto rules = options.rules.create_some();
  if (!rules.ok()) return report_error(rules.status());
  std::unique_ptr<Trial> trial;
  if (!options.on_run.empty()) {
    auto opened = RunChoice{options.on_run, options.folder}.open();
    if (!opened.ok()) return report_error(opened.status());
    trial = *std::move(opened);
  }
  const auto needs = rules::union_of_needs(*rules);
  const CaptureSpeed speed = measure_capture_speed();
  const auto costs = cost_of_needs(needs, speed, trial.get());
  if (options.json) {
    print_json(json_of(costs, speed));
  } else {
    print_needs(costs, speed, trial != nullptr);
  }
  return kExitFine;
}

// What was named is a rule, or a run; a name that is neither gets the rules' message, which names the nearest.
int print_named(const RulesOptions& options) {
  const auto spec = parse_rule_spec(options.name);
  const bool is_rule = spec.ok() && !descriptions(spec->name).empty();
  if (!is_rule) {
    const auto run = RunChoice{options.name, options.folder}.locate();
    if (run.ok()) return print_rules_of_run(*run, options.json);
    return report_error(
        Status(Code::kInvalidArgument,
               fmt::format("\"{}\" is neither a rule nor a run: {}; {}", printable(options.name),
                           spec.ok() ? "it is no built-in rule" : spec.status().message(), run.status().message())));
  }
  const auto chosen = descriptions(spec->name);
  if (options.json) {
    print_as_json(chosen);
  } else {
    print_one(chosen.front());
  }
  return kExitFine;
}

int act(const RulesOptions& options) {
  if (options.plan) return print_plan(options);
  if (options.causes) {
    print_causes(options.json);
    return kExitFine;
  }
  if (options.markdown) {
    emit("{}", Lines{rule_reference(descriptions(""))});
    return kExitFine;
  }
  if (!options.name.empty()) return print_named(options);
  if (options.json) {
    print_as_json(descriptions(""));
  } else {
    print_list(descriptions(""));
  }
  return kExitFine;
}

}  // namespace

void add_rules(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<RulesOptions>();
  RulesOptions& o = *options;
  CLI::App& command =
      add_command(app, "rules", "List the rules that exist, or show where those of a run stand", options, action, act);
  command.group(kJudgeGroup);
  command.add_option("NAME", o.name, "A rule: all about it. A run: where the rules that judged it stand")
      ->type_name("");
  add_runs_option(command, o.folder);
  auto* plan = command.add_flag("--plan", o.plan, "What the chosen rules need to be captured, and what that costs");
  add_rule_choice(command, o.rules);
  command.add_option("--on", o.on_run, "With --plan: what it comes to on the tensors of this run")
      ->type_name("RUN")
      ->needs(plan);
  command.add_flag("--causes", o.causes, "The causes that a diagnosis can name; a rule speaks for one with cause=NAME");
  command.add_flag("--markdown", o.markdown, "The reference of all rules, as it is in docs/reference");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden rules", "trainwarden rules VanishingGradient", "trainwarden rules first",
                         "trainwarden rules --plan --rules default --on first",
                         "trainwarden rules first --json | jq '.[].RuleEvaluationStatus'",
                         "trainwarden rules --json | jq -r '.rules[].name'"});
}

}  // namespace trainwarden::cli
