// `trainwarden mirror`: keeps a run in a bucket too, while it is written or once it has ended.
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/control_options.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/mirror_view.h"
#include "ui/cli/running/run_mirror.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

struct MirrorOptions {
  RunChoice run;
  std::string target;
  MirrorPlan plan;
  bool json = false;
};

void print(const MirrorPlan& plan, const MirrorState& state) {
  print_json({{"run", plan.run.string()},
              {"address", plan.address},
              {"files", state.files},
              {"bytes", state.bytes},
              {"files_behind", state.files_behind},
              {"bytes_behind", state.bytes_behind},
              {"complete", state.is_done},
              {"problem", state.problem.ok() ? OrderedJson() : OrderedJson(state.problem.to_string())}});
}

int act(const MirrorOptions& options) {
  const auto run = options.run.locate();
  if (!run.ok()) return report_error(run.status());
  MirrorPlan plan = options.plan;
  plan.run = *run;
  auto address = checked_mirror_address(options.target, *run);
  if (!address.ok()) return report_error(address.status());
  plan.address = *std::move(address);
  process::SignalRelay relay;  // before any thread
  RunMirror mirror(plan, true);
  const bool has_waited = wait_for_mirror(mirror, relay);
  const MirrorState state = mirror.state();
  if (options.json) print(plan, state);
  if (state.is_done) {
    if (!options.json) {
      emit("{}: all is there, {} of it sent now\n", printable(plan.address), format_bytes(state.bytes));
    }
    return kExitFine;
  }
  if (has_waited && !state.problem.ok()) return report_error(state.problem);
  emit(stderr, "trainwarden: left before the run was over; the same command goes on\n");
  return kExitFailed;
}

}  // namespace

void add_mirror(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<MirrorOptions>();
  MirrorOptions& o = *options;
  CLI::App& command = add_command(app, "mirror", "Keep a run in a bucket too, while it is written and until it is over",
                                  options, action, act);
  command.group(kTrainGroup);
  add_run_choice(command, o.run);
  command
      .add_option("TARGET", o.target,
                  "The run's place there: s3://BUCKET/PREFIX; with a / at its end, the run's name follows")
      ->required()
      ->type_name("");
  add_duration_option(command, "--interval", o.plan.interval, "Send what is new this often (default: 2s)");
  add_duration_option(command, "--patience", o.plan.patience,
                      "Once the run is over, try this long to send the rest (default: 10m)");
  command.add_flag(
      "--take-requests", o.plan.takes_requests,
      "Let requests by its address there, as `stop s3://...`, reach the training: who may write into the bucket "
      "decides about it");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden mirror first s3://bucket/runs/", "trainwarden show s3://bucket/runs/first"});
}

}  // namespace trainwarden::cli
