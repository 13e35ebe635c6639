// The sub-commands of `trainwarden job`, a file or two each.
#pragma once

#include <map>
#include <string>

#include <CLI/CLI.hpp>

#include "ui/cli/commands/command.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/running/output_follower.h"
#include "work/document/mistakes.h"
#include "work/jobs/job_lint.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::cli {

// Each adds its sub-command to `job`; parsing it sets `action`.
void add_job_lint(CLI::App& job, CommandAction& action);
void add_job_ls(CLI::App& job, CommandAction& action);
void add_job_describe(CLI::App& job, CommandAction& action);
void add_job_logs(CLI::App& job, CommandAction& action);
void add_job_stop(CLI::App& job, CommandAction& action);
void add_job_wait(CLI::App& job, CommandAction& action);
void add_job_resume(CLI::App& job, CommandAction& action);
void add_job_repeat(CLI::App& job, CommandAction& action);
void add_job_files(CLI::App& job, CommandAction& action);
void add_job_fetch(CLI::App& job, CommandAction& action);
void add_job_upload(CLI::App& job, CommandAction& action);
void add_job_rm(CLI::App& job, CommandAction& action);
void add_job_queue(CLI::App& job, CommandAction& action);
void add_job_manifest(CLI::App& job, CommandAction& action);
void add_job_slurm_agent(CLI::App& job, CommandAction& action);   // not for people
void add_job_ranks(CLI::App& job, CommandAction& action);         // not for people
void add_job_slurm_ranks(CLI::App& job, CommandAction& action);   // not for people
void add_job_mirror(CLI::App& job, CommandAction& action);        // not for people
void add_job_ssh_follower(CLI::App& job, CommandAction& action);  // not for people
void add_job_container(CLI::App& job, CommandAction& action);     // not for people
void add_job_agent(CLI::App& job, CommandAction& action);         // not for people
void add_job_keeper(CLI::App& job, CommandAction& action);        // the same
void add_job_deliverer(CLI::App& job, CommandAction& action);     // the same
void add_job_record(CLI::App& job, CommandAction& action);        // the same

// A job's file, read and checked against this machine.
struct CheckedJob {
  jobs::JobSpec spec;
  std::string text;
  std::filesystem::path folder;  // of the file: relative paths begin here
  document::Mistakes mistakes;
  std::vector<jobs::Warning> warnings;
};
// Starts it in the image of the job that it is started for.
std::vector<std::string> words_in_container(const std::vector<std::string>& program);

// The text of a file, "-" of standard input; `expected` says what it should be. kNotFound, kPermissionDenied,
// kInvalidArgument.
Result<std::string> read_job_text(const std::string& file, const char* expected);

// On this backend, whatever the file says.
Result<CheckedJob> check_job(const std::string& file, std::optional<jobs::Backend> backend = {});
// The same of a text that is not, or not so, in its file: relative paths begin in that one's folder.
Result<CheckedJob> check_job_text(std::string text, const std::string& file, std::optional<jobs::Backend> backend);

// How a job is submitted that was checked.
struct SubmitPlan {
  std::string spec;  // its file
  std::string name;  // empty: the file's, or made from the time
  std::string jobs;  // as --jobs has it; so for the runs
  std::string runs;
  std::string environment_file;                          // whose variables its program gets; empty: ours
  std::string array;                                     // that it belongs to; empty: none
  std::string repeats;                                   // that it was made from; empty: none
  std::map<std::string, std::filesystem::path> outputs;  // folders that it writes into, by name
};
// kInvalidArgument tells every mistake; warnings are printed.
Status check_for_submission(CheckedJob& job, JobBackends& backends);
Result<jobs::JobRecord> submit_job(const CheckedJob& job, const SubmitPlan& submission, JobBackends& backends);

// The job once for each point, as NAME-0, NAME-1, ... Nothing is submitted when one has mistakes, or its name is taken.
Result<std::vector<jobs::JobRecord>> submit_array(const CheckedJob& job, const std::vector<jobs::ArrayPoint>& points,
                                                  const SubmitPlan& submission, JobBackends& backends);
// Of all that are in `jobs`, by their number. kNotFound when there is none.
Result<std::vector<jobs::JobRecord>> jobs_of_array(const storage::Location& jobs, const std::string& array);

// On whatever backend it has. `message` is that of the transition. Errors as of JobRecord::request_stop() and resume(),
// and of the backend.
Result<jobs::Transition> stop_job(jobs::JobRecord& job, const std::string& message);
Result<jobs::Transition> resume_job(jobs::JobRecord& job, const std::string& message);

// Waits until it has ended, and prints its output from the given byte on. 0 when it is Completed, 1 when it is not.
int wait_for_job(jobs::JobRecord& job, bool follow_output, std::uint64_t printed_bytes = 0);
int wait_for_job(jobs::JobRecord& job, OutputFollower* output);  // the same with what is followed; null: nothing

// Of a job that waits its newest transition says less than why it waits: `reasons` by job, as the queue has them.
void add_reason(jobs::Transition& now, const std::map<std::string, std::string>& reasons, const std::string& job);

}  // namespace trainwarden::cli
