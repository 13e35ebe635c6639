// `trainwarden job describe` and `job logs`.
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/reports/job_view.h"
#include "ui/cli/running/job_backend.h"
#include "ui/cli/running/output_follower.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "work/queue/job_queue.h"
#include "work/sagemaker/job_description.h"

namespace trainwarden::cli {
namespace {

constexpr const char* kOwnFormat = "trainwarden";
constexpr const char* kSageMakerFormat = "sagemaker";

struct JobDescribeOptions {
  JobChoice job;
  std::string format = kOwnFormat;
  std::string region = sagemaker::kLocalRegion;
  bool json = false;
};

struct JobLogsOptions {
  JobChoice job;
  bool follow = false;
  bool agent = false;
};

int describe_as_sagemaker(const jobs::JobRecord& job, const std::vector<jobs::Transition>& transitions,
                          const std::string& region) {
  const auto description = sagemaker::describe_training_job(job, transitions, region);
  if (!description.ok()) return report_error(description.status());
  print_json(*description);
  return kExitFine;
}

int act(const JobDescribeOptions& options) {
  Result<jobs::JobRecord> job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  JobBackends backends;
  backends.keep(*job);
  const auto now = backends.settle(*job);
  if (!now.ok()) return report_error(now.status());
  auto transitions = job->transitions();
  if (!transitions.ok()) return report_error(transitions.status());
  const queue::JobQueue queue(jobs_folder(options.job.jobs), queue::this_host());
  if (now->seq == transitions->back().seq) transitions->back().message = now->message;
  add_reason(transitions->back(), queue.reasons(), job->order().name);
  if (options.format == kSageMakerFormat) return describe_as_sagemaker(*job, *transitions, options.region);
  const auto exit = job->read_exit(jobs::attempt_of(*transitions));
  if (!exit.ok()) return report_error(exit.status());
  if (options.json) {
    print_json(job_json(*job, *transitions, *exit));
  } else {
    emit("{}", Lines{job_text(*job, *transitions)});
  }
  return kExitFine;
}

int act(const JobLogsOptions& options) {
  Result<jobs::JobRecord> job = options.job.open();
  if (!job.ok()) return report_error(job.status());
  if (options.follow) return wait_for_job(*job, true);
  OutputFollower(options.agent ? job->agent_log() : job->output()).finish();
  return kExitFine;
}

}  // namespace

void add_reason(jobs::Transition& now, const std::map<std::string, std::string>& reasons, const std::string& job) {
  const auto reason = reasons.find(job);
  if (jobs::is_queued(now.status) && reason != reasons.end()) now.message = reason->second;
}

void add_job_describe(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobDescribeOptions>();
  JobDescribeOptions& o = *options;
  CLI::App& command =
      add_command(job, "describe", "Say where a job stands, and how it came there", options, action, act);
  add_job_choice(command, o.job);
  auto* format =
      command.add_option("--format", o.format, "trainwarden (default), or sagemaker: JSON as its API answers")
          ->check(CLI::IsMember({kOwnFormat, kSageMakerFormat}))
          ->type_name("FORMAT");
  command.add_option("--region", o.region, "With --format sagemaker: the region in its ARN (local)")
      ->needs(format)
      ->type_name("NAME");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job describe bert-7", "trainwarden job describe bert-7 --json | jq .exit",
                         "trainwarden job describe bert-7 --format sagemaker --json"});
}

void add_job_logs(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobLogsOptions>();
  JobLogsOptions& o = *options;
  CLI::App& command = add_command(job, "logs", "Print what a job's program prints", options, action, act);
  add_job_choice(command, o.job);
  auto* follow = command.add_flag("-f,--follow", o.follow, "Until the job has ended; exit code 0 when it is Completed");
  command.add_flag("--agent", o.agent, "What its agent printed")->excludes(follow);
  set_examples(command, {"trainwarden job logs bert-7 | tail", "trainwarden job logs -f bert-7"});
}

}  // namespace trainwarden::cli
