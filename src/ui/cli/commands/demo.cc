// `trainwarden demo`: a training that goes well, then one that a rule stops.
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/clock.h"
#include "core/base/program_variables.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "ui/cli/commands/command.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/options/rule_choice.h"
#include "ui/cli/options/run_locator.h"
#include "ui/cli/reports/rule_report.h"
#include "ui/cli/reports/tensor_reading.h"
#include "ui/cli/running/follow_up.h"
#include "ui/cli/running/watched_program.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/picture.h"

namespace trainwarden::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFilters = "conv0.weight";
constexpr const char* kAccuracy = "accuracy";

struct DemoOptions {
  std::string runs;
  std::string data;
  int epochs = 1;  // of act one: passes over the 60,000 images
};

// One training of the demo.
struct Act {
  std::string name;  // of the run
  std::vector<std::string> program;
  std::vector<std::string> rules;
  bool stop_on_fire = false;
};

// What TRAINWARDEN_DEMO_PROGRAM names, else fashion_mnist beside this program.
Result<fs::path> find_program() {
  std::error_code ignored;
  const char* variable = std::getenv(variable::kDemoProgram);
  const fs::path beside = fs::read_symlink("/proc/self/exe", ignored).parent_path() / "fashion_mnist";
  const fs::path program = variable && *variable ? fs::path(variable) : beside;
  if (fs::exists(program, ignored)) return program;
  return Status(Code::kNotFound,
                fmt::format("the example program is not at {}; `./dev demo` in a clone of the repository builds it and "
                            "plays the demo, or name it with TRAINWARDEN_DEMO_PROGRAM",
                            program.string()));
}

std::vector<std::string> program_command(const fs::path& program, const DemoOptions& options,
                                         const std::string& learning_rate) {
  std::vector<std::string> command = {program.string(),
                                      "--learning-rate",
                                      learning_rate,
                                      "--batch-size",
                                      "256",
                                      "--epochs",
                                      std::to_string(options.epochs)};
  if (!options.data.empty()) command.insert(command.end(), {"--data", options.data});
  return command;
}

// A free name beside those of earlier demos.
std::string act_name(const fs::path& folder, const std::string& word) {
  constexpr std::int64_t kNsPerSecond = 1'000'000'000;
  return make_run_name(folder, {word}, system_clock().unix_ns() / kNsPerSecond);
}

void print_command(const Act& act) {
  emit("$ {} run --name {}", typed_program(), act.name);
  for (const std::string& rule : act.rules) emit(" --rule {}", rule);
  emit("{} -- {}\n\n", act.stop_on_fire ? " --on-fire stop" : "", fmt::join(act.program, " "));
  std::fflush(stdout);
}

Result<ProgramResult> play(const Act& act, const fs::path& folder) {
  print_command(act);
  const storage::Location runs(folder);
  TRAINWARDEN_RETURN_IF_ERROR(runs.storage().create_folder(""));
  TRAINWARDEN_ASSIGN_OR_RETURN(auto rules, RuleChoice{.rules = act.rules}.create());
  ProgramPlan plan;
  plan.command = act.program;
  plan.run = folder / act.name;
  plan.output = folder / (act.name + ".log");
  ActionChoice choice;
  if (act.stop_on_fire) choice.on_fire = {"stop"};
  TRAINWARDEN_ASSIGN_OR_RETURN(ActionWiring wiring, choice.wiring(SkipStep::kRefused));
  plan.subscribe = follow_up(std::move(wiring), rules::rule_ids(rules));
  plan.chatter = Chatter::kProgress;
  TRAINWARDEN_ASSIGN_OR_RETURN(ProgramResult result, run_watched(plan, std::move(rules)));
  if (result.run_appeared && result.exit.shell_code() == 0) return result;
  return Status(Code::kInternal, fmt::format("{} ended with code {}; {} has what it said", act.program.front(),
                                             result.exit.shell_code(), plan.output.string()));
}

// Steps that hold the filters themselves, not only their statistics.
std::vector<TensorReading> first_and_last_filters(Trial& trial) {
  std::vector<TensorReading> readings;
  for (const std::int64_t step : trial.steps_of(kFilters, Mode::kGlobal, Kept::kValue)) {
    auto reading = read_tensor(trial, {kFilters, Mode::kGlobal, step, {}});
    if (!reading.ok() || !reading->value) continue;
    if (readings.size() > 1) readings.pop_back();
    readings.push_back(std::move(reading).value());
  }
  return readings;
}

void print_accuracy(Trial& trial) {
  const std::vector<std::int64_t> steps = trial.steps_of(kAccuracy);
  if (steps.empty()) return;
  if (const auto accuracy = trial.scalar(kAccuracy, steps.back()); accuracy.ok()) {
    emit("\nIt puts {:.1f} % of the test images into the right class.\n", *accuracy * 100);
  }
}

void print_filters(Trial& trial) {
  emit("\nThe filters of the first layer, at the first step that was kept and at the last:\n");
  const Terminal terminal = terminal_of(stdout);
  const PictureSize size = picture_size(terminal);
  for (const TensorReading& reading : first_and_last_filters(trial)) {
    emit("\n{} at step {}\n", kFilters, reading.step);
    const std::vector<double> elements = reading.value->to_doubles();
    emit("{}", Painted{render_picture(lay_out(elements, reading.value->shape, size.rows, size.columns), terminal)});
  }
}

int play_first_act(const fs::path& program, const DemoOptions& options, const fs::path& folder) {
  emit("Act one: a convolutional network learns FashionMNIST, and three rules watch.\n\n");
  const Act act{act_name(folder, "demo-healthy"),
                program_command(program, options, "0.1"),
                {"VanishingGradient", "ExplodingTensor", "LossNotDecreasing:num_steps=200"}};
  const auto result = play(act, folder);
  if (!result.ok()) return report_error(result.status());
  const auto trial = Trial::open(folder / act.name);
  if (!trial.ok()) return report_error(trial.status());
  print_report(stdout, result->judging.report);
  print_accuracy(**trial);
  print_filters(**trial);
  return kExitFine;
}

void print_what_happened(const ProgramResult& result, const Trial& trial) {
  const rules::VerdictRecord& verdict = result.judging.report.fired.front();
  const std::int64_t last_step = trial.last_complete_step();
  emit("What happened\n");
  print_verdict(stdout, verdict);
  emit("  Trainwarden asked the training to stop. Its last step was {}; the verdict is on step {}.\n", last_step,
       verdict.place.global_step);
}

void print_where_and_next(const Act& act, const fs::path& folder, const launch::JudgingResult& judging) {
  const fs::path run = folder / act.name;
  const rules::VerdictRecord& verdict = judging.report.fired.front();
  const std::string typed = typed_run(run);
  emit("\nWhere the evidence lies\n");
  emit("  tensors     {}\n", (run / journal::journal_folder(journal::worker_name(0))).string());
  emit("  verdicts    {}\n", (run / journal::journal_folder(judging.journal)).string());
  emit("  its output  {}\n", (folder / (act.name + ".log")).string());
  emit("\nWhat to type next\n");
  emit("  {} show {}\n", typed_program(), typed);
  if (!verdict.verdict.evidence.empty()) {
    const Evidence& evidence = verdict.verdict.evidence.front();
    emit("  {} value {} '{}' --step {}\n", typed_program(), typed, evidence.tensor, evidence.global_step);
  }
  emit("  {0} check {1} --rule ExplodingTensor\n  {0} ls\n", typed_program(), typed);
}

int play_second_act(const fs::path& program, const DemoOptions& options, const fs::path& folder) {
  emit("\nAct two: the same network with a learning rate of 10; the first rule that fires may stop it.\n\n");
  const Act act{act_name(folder, "demo-ruinous"),
                program_command(program, options, "10"),
                {"VanishingGradient", "ExplodingTensor", "LossNotDecreasing"},
                true};
  const auto result = play(act, folder);
  if (!result.ok()) return report_error(result.status());
  if (!result->judging.report.any_fired()) {
    print_report(stdout, result->judging.report);
    return report_error(Status(Code::kInternal, "no rule fired, though one should have"));
  }
  const auto trial = Trial::open(folder / act.name);
  if (!trial.ok()) return report_error(trial.status());
  print_what_happened(*result, **trial);
  print_where_and_next(act, folder, result->judging);
  return kExitFine;
}

int act(const DemoOptions& options) {
  const auto program = find_program();
  if (!program.ok()) return report_error(program.status());
  const fs::path folder = runs_folder(options.runs);
  const int first = play_first_act(*program, options, folder);
  return first == kExitFine ? play_second_act(*program, options, folder) : first;
}

}  // namespace

void add_demo(CLI::App& app, CommandAction& action) {
  auto options = std::make_shared<DemoOptions>();
  DemoOptions& o = *options;
  CLI::App& command =
      add_command(app, "demo", "Watch a training that goes well, then one that a rule stops", options, action, act);
  command.group(kHelpGroup);
  add_runs_option(command, o.runs);
  command.add_option("--data", o.data, "Folder of FashionMNIST (default: where Debian installs it)")->type_name("DIR");
  command.add_option("--epochs", o.epochs, "Passes over the images in act one (default: 1)")
      ->type_name("N")
      ->check(CLI::Validator(CLI::PositiveNumber).description(""));
  set_examples(command, {"trainwarden demo", "trainwarden demo --epochs 3",
                         "TRAINWARDEN_DEMO_PROGRAM=./fashion_mnist trainwarden demo"});
}

}  // namespace trainwarden::cli
