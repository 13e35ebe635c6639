// `trainwarden job stop` and `job wait`.
#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/control_options.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/running/output_follower.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"

namespace trainwarden::cli {
namespace {

constexpr std::chrono::milliseconds kJobLookInterval{200};
constexpr int kLooksPerKeeperLook = 10;

struct JobStopOptions {
  JobsChoice job;
  bool wait = false;
  bool json = false;
};

struct JobResumeOptions {
  JobChoice job;
  std::optional<std::int64_t> ranks;
  bool wait = false;
  bool json = false;
};

struct JobWaitOptions {
  JobsChoice job;
  bool json = false;
};

// Until it has ended; prints what its program prints when `output` is given.
Result<jobs::Transition> await_end(jobs::JobRecord& job, OutputFollower* output) {
  JobBackends backends;
  for (int looks = 0;; ++looks) {
    if (looks % kLooksPerKeeperLook == 0) backends.keep(job);
    TRAINWARDEN_ASSIGN_OR_RETURN(jobs::Transition now, backends.settle(job));
    const bool ended = jobs::is_terminal(now.status);
    if (output != nullptr) TRAINWARDEN_RETURN_IF_ERROR(ended ? output->finish() : output->print_new());
    if (ended) return now;
    std::this_thread::sleep_for(kJobLookInterval);
  }
}

int report_standing(const jobs::JobRecord& job, const Result<jobs::Transition>& now, bool json) {
  if (!now.ok()) return report_error(now.status());
  if (json) {
    print_json_line(standing_json(job, *now));
  } else {
    emit("{}\n", standing_text(job, *now));
  }
  return kExitFine;
}

std::string asked_by() {
  return "asked by " + requested_by();
}

using Chosen = Result<std::vector<jobs::JobRecord>>;
Chosen open_all(const JobsChoice& choice) {
  const storage::Location jobs(jobs_folder(choice.jobs));
  if (choice.job.empty() == choice.array.empty()) {
    return Status(Code::kInvalidArgument, fmt::format("expected the name of a job or --array NAME, found {}",
                                                      choice.job.empty() ? "neither" : "both"));
  }
  if (!choice.array.empty()) return jobs_of_array(jobs, choice.array);
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::JobRecord job, jobs::JobRecord::open(jobs, choice.job));
  return std::vector<jobs::JobRecord>{std::move(job)};
}

int act(const JobStopOptions& options) {
  Chosen all = open_all(options.job);
  if (!all.ok()) return report_error(all.status());
  std::vector<Result<jobs::Transition>> standings;  // all are asked before one is waited for
  for (jobs::JobRecord& job : *all) standings.push_back(stop_job(job, asked_by()));
  int code = kExitFine;
  for (std::size_t i = 0; i < all->size(); ++i) {
    if (standings[i].ok() && options.wait) standings[i] = await_end((*all)[i], nullptr);
    code = std::max(code, report_standing((*all)[i], standings[i], options.json));
  }
  return code;
}

Status set_ranks(jobs::JobRecord& job, std::int64_t ranks) {
  if (job.order().backend != jobs::Backend::kLocal) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("--ranks: job {} runs on {}, where it goes on with all its ranks; to go on with fewer, submit "
                    "its file with other resources and the same checkpoints.path",
                    job.order().name, jobs::name(job.order().backend)));
  }
  JobBackends backends;
  TRAINWARDEN_RETURN_IF_ERROR(backends.settle(job).status());
  return job.set_ranks(ranks);
}

int act(const JobResumeOptions& options) {
  Result<jobs::JobRecord> job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  if (options.ranks) {
    if (const Status set = set_ranks(*job, *options.ranks); !set.ok()) return report_error(set);
  }
  const std::uint64_t printed = OutputFollower::bytes_of(job->output());  // by the attempts before
  const Result<jobs::Transition> now = resume_job(*job, asked_by());
  if (!now.ok() || !options.wait) return report_standing(*job, now, options.json);
  return wait_for_job(*job, !options.json, printed);
}

int act(const JobWaitOptions& options) {
  Chosen all = open_all(options.job);
  if (!all.ok()) return report_error(all.status());
  int code = kExitFine;
  for (jobs::JobRecord& job : *all) {
    const Result<jobs::Transition> now = await_end(job, nullptr);
    code = std::max(code, report_standing(job, now, options.json));
    if (now.ok() && now->status != jobs::JobPhase::kCompleted) code = std::max<int>(code, kExitFailed);
  }
  return code;
}

}  // namespace

Result<jobs::Transition> stop_job(jobs::JobRecord& job, const std::string& message) {
  try_ensure_job_is_told_of(job);
  JobBackends backends;
  TRAINWARDEN_RETURN_IF_ERROR(backends.settle(job).status());
  return backends.of(job.order().backend).stop(job, message);
}

Result<jobs::Transition> resume_job(jobs::JobRecord& job, const std::string& message) {
  JobBackends backends;
  TRAINWARDEN_RETURN_IF_ERROR(backends.settle(job).status());
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::Transition now, backends.of(job.order().backend).resume(job, message));
  try_ensure_job_is_told_of(job);
  return now;
}

int wait_for_job(jobs::JobRecord& job, bool follow_output, std::uint64_t printed_bytes) {
  OutputFollower output(job.output(), printed_bytes);
  return wait_for_job(job, follow_output ? &output : nullptr);
}

int wait_for_job(jobs::JobRecord& job, OutputFollower* output) {
  const Result<jobs::Transition> now = await_end(job, output);
  if (!now.ok()) return report_error(now.status());
  emit(stderr, "trainwarden: {}\n", standing_text(job, *now));
  return now->status == jobs::JobPhase::kCompleted ? kExitFine : kExitFailed;
}

void add_job_stop(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobStopOptions>();
  JobStopOptions& o = *options;
  CLI::App& command =
      add_command(job, "stop", "Stop a job: SIGTERM, and SIGKILL after its grace", options, action, act);
  add_jobs_choice(command, o.job);
  command.add_flag("--wait", o.wait, "Wait for its end");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job stop bert-7", "trainwarden job stop bert-7 --wait --json",
                         "trainwarden job stop --array sweep"});
}

void add_job_resume(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobResumeOptions>();
  JobResumeOptions& o = *options;
  CLI::App& command = add_command(job, "resume", "Go on with a job that has failed or was stopped: the next attempt",
                                  options, action, act);
  add_job_choice(command, o.job);
  command.add_option("--ranks", o.ranks, "From now on so many processes; at most those that it was submitted with")
      ->check(CLI::PositiveNumber);
  command.add_flag("--wait", o.wait, "Print what it prints until it has ended; exit code 0 when it is Completed");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job resume bert-7", "trainwarden job resume bert-7 --wait",
                         "trainwarden job resume bert-7 --ranks 3"});
}

void add_job_wait(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobWaitOptions>();
  JobWaitOptions& o = *options;
  CLI::App& command =
      add_command(job, "wait", "Wait for the end of a job; exit code 0 when it is Completed", options, action, act);
  add_jobs_choice(command, o.job);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job wait bert-7 && echo done", "trainwarden job wait --array sweep"});
}

}  // namespace trainwarden::cli
