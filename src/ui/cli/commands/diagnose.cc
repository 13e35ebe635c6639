// `trainwarden diagnose`: what is wrong with a training, in one sentence, with the evidence and the next step.
#include "judge/rules/rule_history.h"
#include "judge/rules/run_diagnosis.h"
#include "read/trial/trial_access.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/diagnosis_view.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/diagnosis_json.h"

namespace trainwarden::cli {
namespace {

struct DiagnoseOptions {
  RunChoice run;
  bool whole = false;
  bool json = false;
};

// What the rules found that judged the run, the first verdict of each.
void print_rules(const Trial& trial) {
  const auto histories = rules::read_rule_histories(TrialAccess::location(trial));
  if (!histories.ok() || histories->empty()) return;
  watch::RuleReport report;
  for (const rules::RuleHistory& rule : *histories) report.add(rule);
  emit("\n");
  print_report(stdout, report);
}

int act(const DiagnoseOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const auto diagnosis = rules::diagnose_run(**trial);
  if (options.json) {
    OrderedJson document = {{"run", run_name((*trial)->path())}};
    document.update(views::json_of(diagnosis));
    print_json(document);
  } else {
    print_diagnosis(stdout, diagnosis, options.whole);
    if (options.whole) print_rules(**trial);
  }
  return diagnosis.first() != nullptr ? kExitRuleFired : kExitFine;
}

}  // namespace

void add_diagnose(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<DiagnoseOptions>();
  DiagnoseOptions& o = *options;
  CLI::App& command =
      add_command(app, "diagnose", "Say what is wrong with a training, and what to do about it", options, action, act);
  command.group(kJudgeGroup);
  add_run_choice(command, o.run);
  command.add_flag("--whole", o.whole,
                   "All findings with their evidence, what follows from them, and what could not be looked at");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden diagnose first", "trainwarden diagnose first --whole",
                         "trainwarden diagnose first --json | jq .diagnosis.cause"});
}

}  // namespace trainwarden::cli
