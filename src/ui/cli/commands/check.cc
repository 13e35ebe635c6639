// `trainwarden check`: judges what recorded runs hold now, and leaves the runs as they are.
#include <thread>

#include <fmt/format.h>

#include "ui/cli/commands/check_runs.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/dry_run.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/options/words_option.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/status_line.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct CheckOptions {
  std::vector<std::string> runs;
  std::string folder;
  RuleChoice rules;
  int jobs = 0;
  std::string results;
  bool dry_run = false;
  bool json = false;
};

Result<CheckPlan> make_plan(const CheckOptions& options) {
  CheckPlan plan;
  plan.rules = options.rules;
  plan.results = options.results;
  plan.jobs = options.jobs > 0 ? options.jobs : static_cast<int>(std::thread::hardware_concurrency());
  TRAINWARDEN_ASSIGN_OR_RETURN(LocatedRuns located, locate_runs(options.runs, runs_folder(options.folder)));
  const std::string note = left_out_note(located);
  if (!note.empty()) emit(stderr, "trainwarden: note: {}\n", note);
  plan.runs = std::move(located.runs);
  return plan;
}

std::string fired_text(const watch::RuleReport& report) {
  std::string text;
  for (const rules::VerdictRecord& verdict : report.fired) {
    if (!verdict.alarms()) continue;
    text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", verdict.rule_id, rules::place_text(verdict.place));
  }
  return text;
}

void print_many(const std::vector<CheckedRun>& runs) {
  Table table({{"RUN"}, {"STEPS UP TO", Align::kRight}, {"FIRED"}});
  for (const CheckedRun& run : runs) {
    const std::string found = run.status.ok() ? fired_text(run.report) : "error: " + run.status.message();
    table.add_row({run_name(run.path), std::to_string(run.last_judged_step), found});
  }
  emit("{}", Lines{table.to_string()});
}

void print_checked(const std::vector<CheckedRun>& runs, bool json) {
  if (runs.size() == 1 && runs[0].status.ok()) {
    if (json) return print_json(runs[0].document);
    return print_report(stdout, runs[0].report);
  }
  if (!json) return print_many(runs);
  OrderedJson documents = OrderedJson::array();
  for (const CheckedRun& run : runs) documents.push_back(run.document);
  print_json({{"runs", std::move(documents)}});
}

// The gravest: damage, then failures, then rules that fired.
int checked_exit_code(const std::vector<CheckedRun>& runs) {
  int code = kExitFine;
  for (const CheckedRun& run : runs) {
    if (!run.status.ok()) {
      const int own = report_error(run.status.with_context(run_name(run.path)));
      code = code == kExitDataLost ? code : own;
    } else if (code == kExitFine) {
      code = exit_code_of(run.report);
    }
  }
  return code;
}

// What the rules would look at in the run, when one is named.
int act_dry(const CheckOptions& options) {
  const auto rules = options.rules.create_some();
  if (!rules.ok()) return report_error(rules.status());
  if (options.runs.empty()) return print_dry_run(nullptr, *rules, options.json);
  if (options.runs.size() > 1) {
    return report_error(
        Status(Code::kInvalidArgument, fmt::format("--dry-run looks at one run, {} were named", options.runs.size())));
  }
  const auto trial = RunChoice{options.runs[0], options.folder}.open();
  if (!trial.ok()) return report_error(trial.status());
  return print_dry_run(trial->get(), *rules, options.json);
}

int act(const CheckOptions& options) {
  if (options.dry_run) return act_dry(options);
  if (options.runs.empty()) return report_error(Status(Code::kInvalidArgument, "RUN is required: which runs?"));
  const auto plan = make_plan(options);
  if (!plan.ok()) return report_error(plan.status());
  StatusLine line(stderr, terminal_of(stderr));
  std::size_t done = 0;
  const auto checked = check_runs(*plan, [&](const CheckedRun& run) {
    line.show(fmt::format("{} of {} runs judged, the last {}", ++done, plan->runs.size(), run_name(run.path)));
  });
  line.clear();
  if (!checked.ok()) return report_error(checked.status());
  print_checked(*checked, options.json);
  return checked_exit_code(*checked);
}

}  // namespace

void add_check(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<CheckOptions>();
  CheckOptions& o = *options;
  CLI::App& command = add_command(app, "check", "Judge recorded runs with rules", options, action, act);
  command.group(kJudgeGroup);
  add_words(command, "RUN", o.runs, "Names of runs, or their paths")->type_name("");
  add_runs_option(command, o.folder);
  add_rule_choice(command, o.rules);
  command.add_option("--jobs", o.jobs, "How many runs are judged at once (default: one for each CPU)")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  command
      .add_option(
          "--results", o.results,
          "Append what was found to this file, a JSON line for each run, and leave out runs that it has already")
      ->type_name("FILE");
  command.add_flag("--dry-run", o.dry_run,
                   "Judge nothing: say what each rule would look at, in RUN when it is named, and what is missing");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden check first --rules default",
                         "trainwarden check first --dry-run --rule 'l2(gradient/*) > 100'",
                         "trainwarden check first --rule VanishingGradient:threshold=1e-6",
                         "trainwarden check runs/* --rules default --results verdicts.jsonl",
                         "trainwarden check first --rule LossNotDecreasing --json | jq '.rules[].status'"});
}

}  // namespace trainwarden::cli
