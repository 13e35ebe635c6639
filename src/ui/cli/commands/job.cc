// `trainwarden job`: training jobs.
#include "ui/cli/commands/job_commands.h"

namespace trainwarden::cli {

void add_job(CLI::App& app, CommandAction& action) {
  CLI::App& command = add_subcommand(app, "job", "List, follow, stop, resume and check training jobs", [] {});
  command.group(kTrainGroup);
  command.require_subcommand(1);
  add_job_ls(command, action);
  add_job_describe(command, action);
  add_job_logs(command, action);
  add_job_stop(command, action);
  add_job_wait(command, action);
  add_job_lint(command, action);
  add_job_resume(command, action);
  add_job_repeat(command, action);
  add_job_files(command, action);
  add_job_fetch(command, action);
  add_job_upload(command, action);
  add_job_rm(command, action);
  add_job_queue(command, action);
  add_job_manifest(command, action);
  add_job_container(command, action);
  add_job_agent(command, action);
  add_job_slurm_agent(command, action);
  add_job_ranks(command, action);
  add_job_slurm_ranks(command, action);
  add_job_mirror(command, action);
  add_job_ssh_follower(command, action);
  add_job_keeper(command, action);
  add_job_deliverer(command, action);
  add_job_record(command, action);
  set_examples(command, {"trainwarden job ls", "trainwarden job logs -f bert-7", "trainwarden job stop bert-7",
                         "trainwarden job resume bert-7", "trainwarden job lint job.toml"});
}

}  // namespace trainwarden::cli
