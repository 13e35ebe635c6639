#include "work/slurm/slurm_control.h"

#include <string>
#include <vector>

#include "work/slurm/slurm_standing.h"

namespace trainwarden::slurm {
namespace {

Status run_on(const SlurmCommands& commands, SlurmTool tool, const std::vector<std::string>& arguments) {
  const Status status = commands.run(tool, arguments).status();
  return status.code() == Code::kNotFound ? Status() : status;  // it has ended long ago
}

}  // namespace

Status ask_to_end(const SlurmCommands& commands, const SlurmJob& job) {
  const Standing standing = standing_of(job.states);
  if (has_ended(standing)) return Status();
  if (standing != Standing::kRunning && standing != Standing::kEnding) return cancel(commands, job.key());
  return run_on(commands, SlurmTool::kScancel, {"--batch", "--signal=TERM", to_string(job.key())});
}

Status cancel(const SlurmCommands& commands, const SlurmKey& key) {
  return run_on(commands, SlurmTool::kScancel, {to_string(key)});
}

Status requeue(const SlurmCommands& commands, const SlurmKey& key) {
  return commands.run(SlurmTool::kScontrol, {"requeue", to_string(key)}).status();
}

Status start_soon(const SlurmCommands& commands, const SlurmKey& key) {
  return commands.run(SlurmTool::kScontrol, {"update", "jobid=" + to_string(key), "starttime=now+2"}).status();
}

}  // namespace trainwarden::slurm
