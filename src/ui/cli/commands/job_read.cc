// `trainwarden job describe` and `job logs`.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/reports/job_rule_view.h"
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
  std::string rank;  // a number; empty and "all": those of all
  std::string rule;  // its id; empty: what the program printed
  bool follow = false;
  bool agent = false;
  bool json = false;
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
  const auto attempt = read_attempt(*job, jobs::attempt_of(*transitions));
  if (!attempt.ok()) return report_error(attempt.status());
  const auto rules = read_job_rules(*job, transitions->back());
  if (!rules.ok()) return report_error(rules.status());
  if (options.json) {
    OrderedJson json = job_json(*job, *transitions, *attempt);
    json["rules"] = job_rules_json(*job, *rules);
    print_json(json);
  } else {
    emit("{}", Lines{job_text(*job, *transitions, *attempt) + job_rules_text(*job, *rules)});
  }
  return kExitFine;
}

// Nothing: of all ranks.
Result<std::optional<std::int64_t>> chosen_rank(const JobLogsOptions& options, const jobs::JobOrder& order) {
  if (options.rank.empty() || options.rank == "all") return std::optional<std::int64_t>();
  const std::optional<std::int64_t> rank = parse_int(options.rank);
  if (rank && *rank >= 0 && *rank < order.ranks) return rank;
  const std::string there = order.ranks == 1 ? "0 alone" : fmt::format("0 to {}", order.ranks - 1);
  return Status(Code::kInvalidArgument, fmt::format("--rank: expected all or a rank of job {}, which has {}; found {}",
                                                    order.name, there, printable(options.rank)));
}

// A job that is not over may still get rules, as long as it has none.
Status check_rule(const jobs::JobRecord& job, const std::string& rule, bool follows) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const jobs::Transition now, job.current());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<jobs::JobRule> rules, read_job_rules(job, now));
  std::vector<std::string> ids;
  for (const jobs::JobRule& one : rules) ids.push_back(one.id);
  if (std::find(ids.begin(), ids.end(), rule) != ids.end()) return Status();
  if (ids.empty() && follows && !jobs::is_terminal(now.status)) return Status();
  const std::string there = ids.empty() ? "it has none" + std::string(jobs::is_terminal(now.status) ? "" : " yet")
                                        : "`job describe` lists those that it has";
  return Status(Code::kNotFound, fmt::format("--rule: expected a rule that judges job {}, and found \"{}\"; {}{}",
                                             job.order().name, printable(rule), there, did_you_mean(rule, ids)));
}

// Within the job's folder.
std::string chosen_log(const JobLogsOptions& options, const jobs::JobRecord& job, std::optional<std::int64_t> rank) {
  if (!options.rule.empty()) return jobs::rule_log_file(options.rule);
  if (options.agent) return job.agent_log().filename();
  if (rank && job.order().ranks > 1) return job.rank_log(*rank).lexically_relative(job.place().path());
  return job.output().filename();
}

// What it printed is there, whatever has become of its job.json.
int show_log_of_damaged(const JobLogsOptions& options, const Status& damage) {
  emit(stderr, "trainwarden: warning: {}\n", damage.message());
  const storage::Location jobs(jobs_folder(options.job.jobs));
  std::optional<JsonLines> json;
  if (options.json) json.emplace();
  OutputFollower log(jobs.beneath(options.job.job), options.agent ? jobs::kAgentLogFile : jobs::kOutputFile, json);
  const Status printed = log.finish();
  return printed.ok() ? kExitFine : report_error(printed);
}

int act(const JobLogsOptions& options) {
  Result<jobs::JobRecord> job = options.job.open();
  const bool has_whole_log = options.rank.empty() && options.rule.empty() && !options.follow;
  if (job.status().code() == Code::kDataLoss && has_whole_log) return show_log_of_damaged(options, job.status());
  if (!job.ok()) return report_error(job.status());
  const auto rank = chosen_rank(options, job->order());
  if (!rank.ok()) return report_error(rank.status());
  if (!options.rule.empty()) {
    const Status known = check_rule(*job, options.rule, options.follow);
    if (!known.ok()) return report_error(known);
  }
  const bool is_output = options.rule.empty() && !options.agent;
  std::optional<JsonLines> json;
  if (options.json) json = JsonLines{*rank, is_output ? job->order().ranks : 1};
  OutputFollower log(job->place(), chosen_log(options, *job, *rank), json);
  if (options.follow) return wait_for_job(*job, &log);
  const Status printed = log.finish();
  return printed.ok() ? kExitFine : report_error(printed);
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
  auto* rank =
      command.add_option("--rank", o.rank, "What this rank printed, of a job of several; all: each line with its rank");
  rank->type_name("N");
  auto* rule = command.add_option("--rule", o.rule, "What became of this rule, which judges its run");
  rule->type_name("RULE")->excludes(rank);
  command.add_flag("--agent", o.agent, "What its agent printed")->excludes(follow)->excludes(rank)->excludes(rule);
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job logs bert-7 | tail", "trainwarden job logs -f bert-7",
                         "trainwarden job logs bert-7 --rank 3", "trainwarden job logs bert-7 --rule VanishingGradient",
                         "trainwarden job logs -f bert-7 --json | jq -r .text"});
}

}  // namespace trainwarden::cli
