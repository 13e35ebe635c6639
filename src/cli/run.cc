// `trainwarden run`: starts a training program under watch and hands its exit code on.
#include <fmt/format.h>

#include "base/clock.h"
#include "base/text.h"
#include "cli/attach.h"
#include "cli/capture_choice.h"
#include "cli/command.h"
#include "cli/exit_code.h"
#include "cli/rule_choice.h"
#include "cli/run_locator.h"
#include "cli/run_summary.h"
#include "cli/table.h"
#include "cli/watched_program.h"
#include "rules/capture_needs.h"

namespace trainwarden::cli {
namespace {

constexpr const char* kNeedsVariable = "TRAINWARDEN_NEEDS";

struct RunOptions {
  std::vector<std::string> command;
  std::string name;
  std::string runs;
  CaptureChoice capture;
  std::string attach = "auto";
  RuleChoice rules;
  std::string on_fire = "report";
};

// A name is one folder inside the folder of runs; a finished run is never written again.
Result<std::filesystem::path> choose_run(const RunOptions& options) {
  const std::filesystem::path folder = runs_folder(options.runs);
  if (options.name.empty()) {
    constexpr std::int64_t kNsPerSecond = 1'000'000'000;
    return folder / make_run_name(folder, options.command, system_clock().unix_ns() / kNsPerSecond);
  }
  if (options.name.find('/') != std::string::npos || options.name[0] == '.') {
    return Status(Code::kInvalidArgument,
                  fmt::format("\"{}\" cannot be the name of a run: it may not have a slash or begin with a dot; --runs "
                              "names the folder",
                              printable(options.name)));
  }
  const std::filesystem::path run = folder / options.name;
  if (!is_run(run)) return run;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, Trial::open(run));
  const bool finished = trial->state() == RunState::kCompleted || trial->state() == RunState::kStopped;
  if (!finished) return run;
  return Status(Code::kAlreadyExists, fmt::format("{} holds a finished run, which is never written again; take another "
                                                  "--name, or remove the folder",
                                                  run.string()));
}

Result<ProgramPlan> make_plan(const RunOptions& options, const std::vector<rules::EngineRule>& rules) {
  ProgramPlan plan;
  plan.command = options.command;
  plan.stop_on_fire = options.on_fire == "stop";
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.run, choose_run(options));
  plan.mute = options.rules.mute;
  const auto needs = rules::union_of_needs(rules);
  if (!needs.empty()) plan.environment[kNeedsVariable] = rules::encode_needs(needs);
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.environment, options.capture.environment(std::move(plan.environment)));
  TRAINWARDEN_ASSIGN_OR_RETURN(plan.tensorboard_dir, options.capture.tensorboard_dir(plan.run));
  AttachPlan attach = plan_attach(options.command, options.attach);
  if (!attach.warning.empty()) fmt::print(stderr, "trainwarden: warning: {}\n", attach.warning);
  plan.environment.merge(std::move(attach.environment));
  return plan;
}

void print_missing_run(const RunOptions& options, const ProgramPlan& plan) {
  fmt::print(stderr, "trainwarden: the program wrote no run into {}: {}\n", plan.run.string(),
             explain_missing_run(options.command, options.attach));
}

// What happened to what TensorBoard shows, which is no affair of the program's exit code.
void print_board(const ProgramPlan& plan, const Result<ExportReport>& board) {
  if (board.ok()) {
    fmt::print(stderr, "trainwarden: for TensorBoard: tensorboard --logdir {}\n",
               printable(plan.tensorboard_dir.string()));
  } else {
    fmt::print(stderr, "trainwarden: warning: not shown to TensorBoard: {}\n", board.status().message());
  }
}

void print_summary(const RunOptions& options, const ProgramPlan& plan, const ProgramResult& result) {
  fmt::print(stderr, "trainwarden: the program ended with code {} after {}\n", result.exit_code,
             format_duration_ns(result.duration_ns));
  if (!result.run_appeared) return print_missing_run(options, plan);
  if (const auto trial = Trial::open(plan.run); trial.ok()) {
    const auto loss = last_loss(**trial);
    fmt::print(stderr, "trainwarden: run {} {}, {} steps{}\n", run_name(plan.run), name((*trial)->state()),
               (*trial)->steps().size(), loss ? ", loss " + format_number(loss->value) : "");
  }
  if (result.watch) {
    if (!result.watch->status.ok()) report_error(result.watch->status);
    print_report(stderr, result.watch->report);
  }
  if (result.board) print_board(plan, *result.board);
  fmt::print(stderr, "trainwarden: next: {} show {}\n", typed_program(), typed_run(plan.run));
}

int act(const RunOptions& options) {
  auto rules = options.rules.create();
  if (!rules.ok()) return report_error(rules.status());
  const auto plan = make_plan(options, *rules);
  if (!plan.ok()) return report_error(plan.status());
  const auto result = run_watched(*plan, std::move(rules).value());
  if (!result.ok()) {
    report_error(result.status());
    return result.status().code() == Code::kNotFound ? kExitNotFound : kExitNotExecutable;
  }
  print_summary(options, *plan, *result);
  return result->combined_exit_code();
}

}  // namespace

void add_run(CLI::App& app, Action& action) {
  auto options = std::make_shared<RunOptions>();
  RunOptions& o = *options;
  CLI::App& command =
      add_command(app, "run", "Start a training program under watch; its exit code is handed on", options, action, act);
  command.group(kTrainGroup);
  command.add_option("PROGRAM", o.command, "The program and its arguments, after --")->required()->type_name("");
  command.add_option("--name", o.name, "Name of the run (default: made from the time and the program)")
      ->type_name("NAME");
  add_runs_option(command, o.runs);
  add_capture_options(command, o.capture);
  command.add_option("--attach", o.attach, "Watch a program that has no hook of its own (default: auto)")
      ->type_name("HOW")
      ->check(CLI::IsMember({"auto", "preload", "off"}));
  add_rule_choice(command, o.rules);
  add_on_fire_option(command, o.on_fire);
  set_examples(command, {"trainwarden run -- python train.py", "trainwarden run -- ./train --epochs 3",
                         "trainwarden run --budget 1% --include-collection gradients --save-interval 10 -- ./train",
                         "trainwarden run --rules default -- python train.py",
                         "trainwarden run --name first --rule VanishingGradient --on-fire stop -- ./train",
                         "trainwarden run --tensorboard board -- python train.py",
                         "trainwarden run --config capture.json -- python3 train.py"});
}

}  // namespace trainwarden::cli
