// `trainwarden steps`: the steps that a run holds.

#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"

namespace trainwarden::cli {
namespace {

struct StepsOptions {
  RunChoice run;
  std::string mode;
  bool json = false;
};

struct StepRow {
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  StepState state = StepState::kAvailable;
};

std::vector<StepRow> read_steps(const Trial& trial, Mode mode) {
  std::vector<StepRow> rows;
  for (const std::int64_t step : trial.steps(mode, /*include_incomplete=*/true)) {
    StepRow row;
    row.global_step = trial.global_step(mode, step).value_or(step);
    row.mode = trial.mode_of(row.global_step).value_or(Mode::kGlobal);
    row.mode_step = trial.mode_step_of(row.global_step).value_or(row.global_step);
    row.state = trial.step_state(row.global_step);
    rows.push_back(row);
  }
  return rows;
}

void print_as_json(const Trial& trial, const std::vector<StepRow>& rows) {
  OrderedJson steps = OrderedJson::array();
  for (const StepRow& row : rows) {
    steps.push_back({{"step", row.global_step},
                     {"mode", name(row.mode)},
                     {"mode_step", row.mode_step},
                     {"state", name(row.state)}});
  }
  print_json({{"run", run_name(trial.path())},
              {"last_complete_step", trial.last_complete_step()},
              {"ended", trial.loaded_all_steps()},
              {"steps", steps}});
}

void print_as_table(const std::vector<StepRow>& rows) {
  Table table({{"STEP", Align::kRight}, {"MODE"}, {"MODE STEP", Align::kRight}, {"STATE"}});
  for (const StepRow& row : rows) {
    table.add_row({std::to_string(row.global_step), std::string(name(row.mode)), std::to_string(row.mode_step),
                   std::string(name(row.state))});
  }
  emit("{}", Lines{table.to_string()});
}

int act(const StepsOptions& options) {
  const auto trial = options.run.open();
  if (!trial.ok()) return report_error(trial.status());
  const std::vector<StepRow> rows = read_steps(**trial, mode_of(options.mode));
  if (options.json) {
    print_as_json(**trial, rows);
  } else {
    print_as_table(rows);
  }
  return kExitFine;
}

}  // namespace

void add_steps(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<StepsOptions>();
  StepsOptions& o = *options;
  CLI::App& command = add_command(app, "steps", "List the steps that a run holds", options, action, act);
  command.group(kLookGroup);
  add_run_choice(command, o.run);
  add_mode_option(command, o.mode);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden steps first", "trainwarden steps first --mode eval",
                         "trainwarden steps first --json | jq '.steps[-1].step'"});
}

}  // namespace trainwarden::cli
