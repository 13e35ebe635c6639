#include "cli/watched_program.h"

#include <unistd.h>

#include <chrono>
#include <memory>

#include "base/clock.h"
#include "base/environment_names.h"
#include "capture/beside_time.h"
#include "cli/exit_code.h"
#include "cli/run_locator.h"
#include "cli/run_page.h"
#include "process/descriptors.h"
#include "views/run_listing.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kProgramLookInterval{10};
// For a run that is still not at its end when the program is: another worker may be writing it.
constexpr std::chrono::seconds kGrace{10};

// The child, whose output goes to a file of its own or where ours does.
Result<process::Child> start_program(const ProgramPlan& plan, const SignalRelay& relay) {
  process::Program program;
  program.command = plan.command;
  program.environment.set = plan.environment;
  // The program may work in another folder.
  program.environment.set[variable::kRunDir] = std::filesystem::absolute(plan.run).string();
  // What we take is on the bill of the training's hook.
  program.environment.set[variable::kWatcher] = std::to_string(::getpid());
  FileDescriptor output;
  if (!plan.output.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(output, process::open_output_file(plan.output.string()));
    program.descriptors = {{STDOUT_FILENO, output.get()}, {STDERR_FILENO, output.get()}};
  }
  return start_beside(std::move(program), relay);
}

// Until everything that the program wrote is judged and what follows was seen to, or the user has had enough.
void await_judgement(const WatchSession& session, SignalRelay& relay) {
  const auto deadline = std::chrono::steady_clock::now() + kGrace;
  while (!session.done()) {
    const auto received = relay.wait(kProgramLookInterval);
    if (received && received->number != SIGCHLD) return;
    if (session.settling()) continue;  // which has a limit of its own
    if (session.caught_up() && std::chrono::steady_clock::now() > deadline) return;
  }
}

}  // namespace

int ProgramResult::combined_exit_code() const {
  const bool fired = watch.report.any_fired();
  return fired && (exit_code == 0 || watch.stop_requested) ? kExitRuleFired : exit_code;
}

Result<ProgramResult> run_watched(const ProgramPlan& plan, std::vector<rules::EngineRule> rules) {
  SignalRelay relay;  // before any thread
  std::unique_ptr<server::Server> page;
  if (plan.page_port) page = open_run_page(plan.run, *plan.page_port);
  const std::int64_t start_ns = system_clock().steady_ns();
  TRAINWARDEN_ASSIGN_OR_RETURN(process::Child child, start_program(plan, relay));
  WatchView view(stderr, plan.chatter);
  WatchPlan watched{plan.run, std::move(rules), plan.mute, plan.subscribe};
  watched.own_program = true;
  watched.budget = plan.budget;
  WatchSession session(std::move(watched), view);
  std::unique_ptr<LiveExport> board;
  if (!plan.board.folder.empty()) board = std::make_unique<LiveExport>(plan.run, plan.board.folder);

  ProgramResult result;
  result.exit_code = wait_and_relay(child, relay).shell_code();
  result.duration_ns = system_clock().steady_ns() - start_ns;
  session.program_ended({result.exit_code, system_clock().unix_ns()});
  await_judgement(session, relay);
  result.watch = session.result();
  if (board) result.board = board->result();
  result.run_appeared = views::is_run(plan.run);
  return result;
}

}  // namespace trainwarden::cli
