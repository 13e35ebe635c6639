// `trainwarden check`: judges what a run holds now, and leaves the run as it is.
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/rule_report.h"
#include "cli/run_locator.h"

namespace trainwarden::cli {
namespace {

struct CheckOptions {
  RunChoice run;
  std::vector<std::string> rules;
  bool json = false;
};

int act(const CheckOptions& options) {
  auto rules = create_rules(options.rules);
  if (!rules.ok()) return report_error(rules.status());
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  rules::Engine engine(**trial, std::move(rules).value(), {});
  const Status judged = engine.poll();
  engine.finish();
  if (!judged.ok()) return report_error(judged);

  const RuleReport report = report_of(engine);
  if (options.json) {
    Json document = {{"run", run_name((*trial)->path())}, {"last_judged_step", engine.last_judged_step()}};
    document.update(json_of(report));
    print_json(document);
  } else {
    print_report(stdout, report);
  }
  return exit_code_of(report);
}

}  // namespace

void add_check(CLI::App& app, Action& action) {
  auto options = std::make_shared<CheckOptions>();
  CheckOptions& o = *options;
  CLI::App& command = add_command(app, "check", "Judge a recorded run with rules", options, action, act);
  command.group(kJudgeGroup);
  add_run_choice(command, o.run);
  add_rule_option(command, o.rules)->required();
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden check first --rule VanishingGradient",
                         "trainwarden check first --rule VanishingGradient:threshold=1e-6 --rule ExplodingTensor",
                         "trainwarden check first --rule LossNotDecreasing --json | jq '.rules[].status'"});
}

}  // namespace trainwarden::cli
