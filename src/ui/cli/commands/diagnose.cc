// `trainwarden diagnose`: what is wrong with a training, in one sentence, with the evidence and the next step.
#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/pause.h"
#include "judge/rules/rule_history.h"
#include "judge/rules/run_diagnosis.h"
#include "react/actions/request.h"
#include "read/trial/trial_access.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/diagnosis_view.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/views/diagnosis_json.h"
#include "ui/views/run_failure.h"

namespace trainwarden::cli {
namespace {

struct DiagnoseOptions {
  RunChoice run;
  bool whole = false;
  bool examine = false;
  std::int64_t until = rules::kWholeRun;  // a global step
  double timeout_s = 30;
  bool json = false;
};

constexpr std::int64_t kExaminedSteps = 4;
constexpr std::chrono::milliseconds kExaminationInterval{200};

Status check_examinable(const Trial& trial, const diagnosis::Diagnosis& now) {
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_writable(trial, "a request to its training"));
  if (trial.state() != RunState::kRunning) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("the training of {} has ended ({}): no step of it comes that could be examined; leave "
                              "--examine out",
                              run_name(trial.path()), name(trial.state())));
  }
  if (now.examined > 0) return {};
  return Status(Code::kFailedPrecondition,
                fmt::format("the training of {} is not examined: that is done for PyTorch programs under `trainwarden "
                            "run`, or with TRAINWARDEN_EXAMINE=1; leave --examine out",
                            run_name(trial.path())));
}

// Has the training examine its next steps, and waits for what they show, until it ends or time is up.
Status examine_next(const DiagnoseOptions& options, Trial& trial, diagnosis::Diagnosis& diagnosis) {
  TRAINWARDEN_RETURN_IF_ERROR(check_examinable(trial, diagnosis));
  TRAINWARDEN_RETURN_IF_ERROR(TrialAccess::check_same_run(trial));
  TRAINWARDEN_RETURN_IF_ERROR(actions::put_examine_request(
      TrialAccess::location(trial).storage(), TrialAccess::identity(trial),
      {.key = {}, .reason = "trainwarden diagnose --examine", .steps = kExaminedSteps, .requested_by = "user"}));
  const std::int64_t before = diagnosis.examined;
  const std::int64_t start_ns = system_clock().steady_ns();
  while (diagnosis.examined < before + kExaminedSteps && trial.state() == RunState::kRunning) {
    const double waited_s = static_cast<double>(system_clock().steady_ns() - start_ns) / 1e9;
    if (waited_s >= options.timeout_s) {
      emit(stderr, "{} of {} steps were examined in {:.0f} s: --timeout waits longer, and the request stays\n",
           diagnosis.examined - before, kExaminedSteps, options.timeout_s);
      break;
    }
    pause_for(kExaminationInterval, {});
    TRAINWARDEN_RETURN_IF_ERROR(trial.refresh());
    diagnosis = rules::diagnose_run(trial);
  }
  return {};
}

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
  auto diagnosis = rules::diagnose_run(**trial, options.until);
  if (options.examine) {
    const Status examined = examine_next(options, **trial, diagnosis);
    if (!examined.ok()) return report_error(examined);
  }
  const std::string failure = views::failure_of(**trial);
  if (options.json) {
    OrderedJson document = {{"run", run_name((*trial)->path())}};
    document.update(views::json_of(diagnosis, failure));
    print_json(document);
  } else {
    print_diagnosis(stdout, diagnosis, failure, options.whole);
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
  CLI::Option* const examine =
      command.add_flag("--examine", o.examine,
                       "Have the running training examine its next steps first, and wait for that: what was seen last "
                       "may be minutes old");
  command.add_option("--until", o.until, "What could be said when this global step had ended")
      ->type_name("STEP")
      ->check(CLI::NonNegativeNumber)
      ->excludes(examine);
  command.add_option("--timeout", o.timeout_s, "How many seconds to wait for that (default: 30)")
      ->type_name("SECONDS")
      ->check(CLI::NonNegativeNumber);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden diagnose first", "trainwarden diagnose first --whole",
                         "trainwarden diagnose first --examine", "trainwarden diagnose first --until 500",
                         "trainwarden diagnose first --json | jq .diagnosis.cause"});
}

}  // namespace trainwarden::cli
