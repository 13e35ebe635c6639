#include "work/launch/launcher.h"

#include <chrono>
#include <csignal>
#include <utility>

#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/hook_variables.h"
#include "core/process/descriptors.h"
#include "core/process/foreground_child.h"
#include "read/trial/run_listing.h"
#include "store/storage/location.h"

namespace trainwarden::launch {
namespace {

constexpr std::chrono::milliseconds kProgramLookInterval{10};
// For a run that is still not at its end when the program is: another worker may be writing it.
constexpr std::chrono::seconds kGrace{10};

// The child, whose output goes to a file of its own or where ours does.
Result<process::Child> start_program(const LaunchPlan& plan, const process::SignalRelay& relay) {
  process::Program program;
  program.command = plan.command;
  program.environment.set = plan.environment;
  program.ends_with_us = plan.tied;
  // The program may work in another folder.
  program.environment.set[variable::kRunDir] = storage::Location(plan.run).absolute().address();
  // What we take is on the bill of the training's hook.
  program.environment.set[variable::kWatcher] = std::to_string(::getpid());
  FileDescriptor output;
  if (!plan.output.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(output, process::open_log_file(plan.output.string()));
    program.descriptors = {{STDOUT_FILENO, output.get()}, {STDERR_FILENO, output.get()}};
  }
  return process::start_in_foreground(std::move(program), relay);
}

JudgingPlan judging_plan(const LaunchPlan& plan, std::vector<rules::EngineRule> rules) {
  JudgingPlan judging{plan.run, std::move(rules), plan.mute, plan.subscribe};
  judging.own_program = true;
  judging.budget = plan.budget;
  return judging;
}

// Until everything that the program wrote is judged and what follows is delivered, or the user has had enough.
void await_judgement(const Judging& judging, process::SignalRelay& relay) {
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  while (!judging.done()) {
    const auto received = relay.wait(kProgramLookInterval);
    if (received && received->number != SIGCHLD) return;
    if (judging.settling()) continue;  // which has a limit of its own
    if (judging.caught_up() && std::chrono::steady_clock::now() > deadline) return;
  }
}

}  // namespace

Result<LaunchResult> launch(const LaunchPlan& plan, std::vector<rules::EngineRule> rules, Observer& observer,
                            process::SignalRelay& relay) {
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child child, start_program(plan, relay));
  observer.on_start(plan.run, child.id());
  Judging judging(judging_plan(plan, std::move(rules)), observer);
  LaunchResult result;
  result.exit = process::wait_and_relay(child, relay);
  observer.on_program_end(result.exit);
  judging.program_ended({result.exit.shell_code(), system_clock().unix_ns()});
  await_judgement(judging, relay);
  result.judging = judging.result();
  result.run_appeared = trial::is_run(plan.run);
  return result;
}

}  // namespace trainwarden::launch
