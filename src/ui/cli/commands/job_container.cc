// `trainwarden job container`: not for people. In place of a job's program it starts it in a container.
#include <cstdlib>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "core/process/signal_relay.h"
#include "store/storage/location.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/running/job_keeper.h"
#include "work/containers/container_run.h"
#include "work/workspace/layout.h"
#include "work/workspace/workspace.h"

namespace trainwarden::cli {
namespace {

struct JobContainerOptions {
  std::vector<std::string> program;
};

std::string environment_text(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

// The reason of the job's failure, as its program would leave it (workspace/layout.h).
void leave_failure(const jobs::JobRecord& job, const Status& status) {
  const auto spec = workspace::spec_of(job);
  if (!spec.ok()) return;
  const auto layout = workspace::layout_of(job, *spec);
  if (!layout.ok()) return;
  const storage::Location output(layout->output);
  const Status left = output.storage().replace("failure", as_bytes(status.message()));
  if (!left.ok()) static_cast<void>(report_error(left));
}

int act(const JobContainerOptions& options) {
  process::SignalRelay signals;
  Result<OwnJob> own = own_job();
  if (!own.ok()) return report_error(own.status());
  containers::ContainerRank rank;
  rank.attempt = own->attempt;
  rank.rank = parse_int(environment_text("RANK")).value_or(0);
  rank.program = options.program;
  const auto exit = containers::run_in_container(own->job, rank, signals);
  if (exit.ok()) return exit->shell_code();
  leave_failure(own->job, exit.status());
  return report_error(exit.status());
}

}  // namespace

std::vector<std::string> words_in_container(const std::vector<std::string>& program) {
  std::vector<std::string> words = {this_program().string(), "job", "container", "--"};
  words.insert(words.end(), program.begin(), program.end());
  return words;
}

void add_job_container(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobContainerOptions>();
  CLI::App& command = add_command(job, "container", "Start a job's program in its image", options, action, act);
  command.group("");  // hidden
  command.add_option("PROGRAM", options->program, "The program and its arguments")->required()->type_name("");
}

}  // namespace trainwarden::cli
