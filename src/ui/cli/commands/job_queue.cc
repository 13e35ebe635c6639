// `trainwarden job queue`: the jobs of this machine that wait and run, and what they may use of it.
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/text.h"
#include "ui/cli/commands/exit_code.h"
#include "ui/cli/commands/job_commands.h"
#include "ui/cli/options/job_choice.h"
#include "ui/cli/running/job_keeper.h"
#include "ui/cli/terminal/json_out.h"
#include "ui/cli/terminal/output.h"
#include "ui/cli/terminal/table.h"
#include "work/document/table_reader.h"
#include "work/jobs/control_group.h"
#include "work/jobs/job_record.h"
#include "work/queue/job_queue.h"
#include "work/queue/machine.h"

namespace trainwarden::cli {
namespace {

struct JobQueueOptions {
  std::string jobs;
  std::string cpus;
  std::string gpus;
  std::string memory;
  std::string control_group;
  bool json = false;
};

// "all" lifts the limit.
Result<std::optional<std::int64_t>> count_option(const std::string& option, const std::string& text) {
  if (text == "all") return std::optional<std::int64_t>();
  const std::optional<std::int64_t> count = parse_int(text);
  if (count && *count >= 0) return count;
  return Status(Code::kInvalidArgument,
                fmt::format("{}: expected a number, or all, found \"{}\"", option, printable(text)));
}

Result<std::optional<std::uint64_t>> bytes_option(const std::string& text) {
  if (text == "all") return std::optional<std::uint64_t>();
  const std::optional<std::uint64_t> bytes = document::parse_bytes(text);
  if (bytes) return bytes;
  return Status(Code::kInvalidArgument,
                fmt::format("--memory: expected a size, as in 16GiB, or all, found \"{}\"", printable(text)));
}

// "none" lets jobs run where their agents do.
Result<std::string> control_group_option(const std::string& text) {
  if (text == "none") return std::string();
  if (!jobs::is_control_group(text)) {
    return Status(Code::kInvalidArgument,
                  fmt::format("--control-group: expected a path beneath {}, as in trainwarden, or none, found \"{}\"",
                              jobs::kControlGroupRoot, printable(text)));
  }
  // Nobody else looks for it before a job starts: what cannot be had is said here.
  const std::string probe = fmt::format("probe-{}", ::getpid());
  TRAINWARDEN_ASSIGN_OR_RETURN(jobs::ControlGroup group,
                               jobs::ControlGroup::create(jobs::kControlGroupRoot, text, probe));
  TRAINWARDEN_RETURN_IF_ERROR(group.end());
  return text;
}

// False when no limit was given.
Result<bool> change_limits(const JobQueueOptions& options, queue::JobQueue& queue) {
  if (options.cpus.empty() && options.gpus.empty() && options.memory.empty() && options.control_group.empty()) {
    return false;
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(queue::QueueLimits limits, queue.limits());
  if (!options.cpus.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(limits.cpus, count_option("--cpus", options.cpus));
    if (limits.cpus == 0) return Status(Code::kInvalidArgument, "--cpus: with 0 processors no job could start");
  }
  if (!options.gpus.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(limits.gpus, count_option("--gpus", options.gpus));
  }
  if (!options.memory.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(limits.memory_bytes, bytes_option(options.memory));
  }
  if (!options.control_group.empty()) {
    TRAINWARDEN_ASSIGN_OR_RETURN(limits.control_group, control_group_option(options.control_group));
  }
  TRAINWARDEN_RETURN_IF_ERROR(queue.set_limits(limits));
  return true;
}

std::string capacity_text(const queue::Capacity& capacity) {
  return fmt::format("{} processors, {} GPUs, {}", capacity.cpus.size(), capacity.gpus.size(),
                     format_bytes(capacity.memory_bytes));
}

OrderedJson capacity_json(const queue::Capacity& capacity) {
  return {{"cpus", capacity.cpus.size()}, {"gpus", capacity.gpus.size()}, {"memory_bytes", capacity.memory_bytes}};
}

int show(const JobQueueOptions& options, const queue::JobQueue& queue) {
  const auto names = queue.names();
  if (!names.ok()) return report_error(names.status());
  const auto limits = queue.limits();
  if (!limits.ok()) return report_error(limits.status());
  const queue::Capacity capacity = queue::limited(queue::this_machine(), *limits);
  const std::map<std::string, std::string> reasons = queue.reasons();
  OrderedJson list = OrderedJson::array();
  Table table({{"JOB"}, {"WAITS"}});
  const storage::Location folder(jobs_folder(options.jobs));
  for (const std::string& name : *names) {
    if (!folder.storage().exists(name + "/" + jobs::kOrderFile)) continue;  // it is only being submitted
    const auto reason = reasons.find(name);
    const std::string text = reason == reasons.end() ? "" : reason->second;
    list.push_back({{"name", name}, {"waits", text.empty() ? OrderedJson(nullptr) : OrderedJson(text)}});
    table.add_row({name, text.empty() ? "no" : text});
  }
  const std::string& group = limits->control_group;
  if (options.json) {
    print_json({{"host", queue::this_host()},
                {"capacity", capacity_json(capacity)},
                {"control_group", group.empty() ? OrderedJson(nullptr) : OrderedJson(group)},
                {"jobs", list}});
  } else {
    emit("jobs of this machine may use {}\n", capacity_text(capacity));
    emit("{}\n", group.empty() ? "their memory is counted, and not enforced: no control group is set aside"
                               : "they run in control groups beneath " + group);
    emit("{}", Lines{list.empty() ? "no job waits or runs\n" : table.to_string()});
  }
  return kExitFine;
}

int act(const JobQueueOptions& options) {
  const std::filesystem::path jobs = jobs_folder(options.jobs);
  queue::JobQueue queue(jobs, queue::this_host());
  const Result<bool> changed = change_limits(options, queue);
  if (!changed.ok()) return report_error(changed.status());
  try_ensure_job_keeper(jobs);
  return show(options, queue);
}

}  // namespace

void add_job_queue(CLI::App& job, CommandAction& action) {
  auto options = std::make_shared<JobQueueOptions>();
  JobQueueOptions& o = *options;
  CLI::App& command = add_command(
      job, "queue", "Show the queue of this machine, or limit what its jobs may use together", options, action, act);
  add_jobs_option(command, o.jobs);
  command.add_option("--cpus", o.cpus, "So many processors for all jobs together; all: no limit")->type_name("N");
  command.add_option("--gpus", o.gpus, "So many GPUs")->type_name("N");
  command.add_option("--memory", o.memory, "So much memory, such as 16GiB")->type_name("SIZE");
  command.add_option("--control-group", o.control_group, "Run them beneath this control group; none: in none")
      ->type_name("PATH");
  add_json_flag(command, o.json);
  set_examples(command, {"trainwarden job queue", "trainwarden job queue --cpus 6 --memory 24GiB",
                         "trainwarden job queue --cpus all", "trainwarden job queue --control-group trainwarden"});
}

}  // namespace trainwarden::cli
