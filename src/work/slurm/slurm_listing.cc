#include "work/slurm/slurm_listing.h"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/json.h"

namespace trainwarden::slurm {
namespace {

using format::Json;

const Json* member(const Json& object, const char* field) {
  const auto found = object.find(field);
  return found == object.end() ? nullptr : &*found;
}

std::optional<std::int64_t> number_of(const Json* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_object()) {  // {"set": true, "infinite": false, "number": 7}
    const Json* const set = member(*value, "set");
    if (set != nullptr && set->is_boolean() && !set->get<bool>()) return std::nullopt;
    const Json* const number = member(*value, "number");
    return number != nullptr && number->is_number() ? number_of(number) : std::nullopt;
  }
  if (!value->is_number_integer()) return std::nullopt;
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return std::nullopt;
  }
  return value->get<std::int64_t>();
}

std::string text_of(const Json* value) {
  return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

std::vector<std::string> words_of(const Json* value) {
  std::vector<std::string> words;
  if (value != nullptr && value->is_array()) {
    for (const Json& one : *value) {
      if (one.is_string()) words.push_back(one.get<std::string>());
    }
  } else if (std::string word = text_of(value); !word.empty()) {
    words.push_back(std::move(word));
  }
  return words;
}

// {"status": ["ERROR"], "return_code": {"number": 7}, "signal": {"id": {"number": 9}}}, or the number that wait()
// gives.
SlurmExit exit_of(const Json* value) {
  if (value == nullptr || !value->is_object() || member(*value, "return_code") == nullptr) {
    const std::optional<std::int64_t> status = number_of(value);
    return status ? exit_of_wait_status(*status) : SlurmExit();
  }
  SlurmExit exit;
  if (const Json* const signal = member(*value, "signal"); signal != nullptr && signal->is_object()) {
    const std::optional<std::int64_t> id = number_of(member(*signal, "id"));
    if (id && *id > 0 && *id < 128) exit.signal = static_cast<int>(*id);
  }
  const std::optional<std::int64_t> code = number_of(member(*value, "return_code"));
  if (!exit.signal && code && *code >= 0 && *code <= 255) exit.code = static_cast<int>(*code);
  return exit;
}

bool truth_of(const Json* value) {
  if (value != nullptr && value->is_boolean()) return value->get<bool>();
  return number_of(value).value_or(0) != 0;
}

// Without its controller squeue prints an empty list and an error inside it, and ends with exit code 0.
Status errors_in(const Json& json) {
  const Json* const errors = member(json, "errors");
  if (errors == nullptr || !errors->is_array() || errors->empty()) return {};
  const Json& first = errors->front();
  const std::string words = first.is_object() ? text_of(member(first, "description")) : "";
  return {Code::kUnavailable, fmt::format("squeue --json: {}; it may answer later", printable(words))};
}

std::optional<SlurmJob> job_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  SlurmJob job;
  job.id = number_of(member(json, "job_id")).value_or(0);
  if (job.id <= 0) return std::nullopt;
  job.array = std::max<std::int64_t>(number_of(member(json, "array_job_id")).value_or(0), 0);
  if (job.array != 0) job.array_task = number_of(member(json, "array_task_id"));
  job.waiting_tasks = text_of(member(json, "array_task_string"));
  job.user = number_of(member(json, "user_id")).value_or(-1);
  job.name = text_of(member(json, "name"));
  job.comment = text_of(member(json, "comment"));
  job.states = words_of(member(json, "job_state"));
  job.reason = text_of(member(json, "state_reason"));
  // The reason is "JobHeldUser", as if its user held it. scontrol says what is true.
  if (text_of(member(json, "state_description")) == "launch failed requeued held") job.reason = kLaunchFailed;
  job.nodes = text_of(member(json, "nodes"));
  job.script = text_of(member(json, "command"));
  job.exit = exit_of(member(json, "exit_code"));
  job.restarts = number_of(member(json, "restart_cnt")).value_or(0);
  job.requeues = truth_of(member(json, "requeue"));
  return job;
}

// The value behind " NAME=", up to the next blank; nothing when it is not there or there twice.
class ScontrolLine {
 public:
  explicit ScontrolLine(std::string_view line) : line_(" " + std::string(line) + " ") {}

  std::optional<std::string> value(std::string_view field) {
    const std::string mark = fmt::format(" {}=", field);
    const std::size_t at = line_.find(mark);
    if (at == std::string::npos) return std::nullopt;
    if (line_.find(mark, at + 1) != std::string::npos) ambiguous_ = true;
    const std::size_t begin = at + mark.size();
    std::string text = line_.substr(begin, line_.find(' ', begin) - begin);
    return text == "(null)" ? "" : text;
  }
  std::string text(std::string_view field) { return value(field).value_or(""); }
  std::optional<std::int64_t> number(std::string_view field) { return parse_int(text(field)); }
  bool ambiguous() const { return ambiguous_; }

 private:
  std::string line_;
  bool ambiguous_ = false;
};

// "root(0)"
std::int64_t user_of(const std::string& text) {
  const std::size_t open = text.rfind('(');
  if (open == std::string::npos || !text.ends_with(')')) return -1;
  return parse_int(std::string_view(text).substr(open + 1, text.size() - open - 2)).value_or(-1);
}

std::optional<SlurmJob> job_of_line(std::string_view text) {
  if (!text.starts_with("JobId=")) return std::nullopt;
  ScontrolLine line(text);
  SlurmJob job;
  job.id = line.number("JobId").value_or(0);
  job.array = line.number("ArrayJobId").value_or(0);
  const std::string tasks = line.text("ArrayTaskId");
  job.array_task = parse_int(tasks);
  if (!job.array_task) job.waiting_tasks = tasks;
  job.user = user_of(line.text("UserId"));
  job.name = line.value("JobName").value_or(line.text("Name"));
  job.comment = line.text("Comment");
  job.states = split_list(line.text("JobState"));
  job.reason = line.text("Reason");
  job.nodes = line.text("NodeList");
  job.script = line.text("Command");
  job.exit = parse_exit_pair(line.text("ExitCode"));
  job.restarts = line.number("Restarts").value_or(0);
  job.requeues = line.text("Requeue") == "1";
  if (job.id <= 0 || line.ambiguous()) return std::nullopt;
  return job;
}

}  // namespace

SlurmExit exit_of_wait_status(std::int64_t status) {
  SlurmExit exit;
  const int signal = static_cast<int>(status & 0x7f);
  if (status < 0 || status > 0xffff) return exit;
  if (signal != 0) {
    exit.signal = signal;
  } else {
    exit.code = static_cast<int>(status >> 8);
  }
  return exit;
}

SlurmExit parse_exit_pair(std::string_view pair) {
  const std::vector<std::string> parts = split_list(pair, ':');
  const auto part = [&parts](std::size_t i) {
    return i < parts.size() ? parse_int(parts[i]) : std::optional<std::int64_t>();
  };
  const std::optional<std::int64_t> code = part(0);
  const std::optional<std::int64_t> signal = part(1);
  SlurmExit exit;
  if (signal && *signal > 0 && *signal < 128) {
    exit.signal = static_cast<int>(*signal);
  } else if (code && *code >= 0 && *code <= 255) {
    exit.code = static_cast<int>(*code);
  }
  return exit;
}

std::string to_string(const SlurmKey& key) {
  return key.task ? fmt::format("{}_{}", key.job, *key.task) : fmt::format("{}", key.job);
}

Result<std::vector<SlurmJob>> parse_squeue_json(std::string_view text) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json json, format::parse_json_object(text, "squeue --json"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const list, format::array_field(json, "jobs"));
  TRAINWARDEN_RETURN_IF_ERROR(errors_in(json));
  std::vector<SlurmJob> jobs;
  for (const Json& one : *list) {
    if (std::optional<SlurmJob> job = job_of(one)) jobs.push_back(*std::move(job));
  }
  return jobs;
}

std::vector<SlurmJob> parse_scontrol_jobs(std::string_view text) {
  std::vector<SlurmJob> jobs;
  for (const std::string& line : split_list(text, '\n')) {
    if (std::optional<SlurmJob> job = job_of_line(line)) jobs.push_back(*std::move(job));
  }
  return jobs;
}

Result<std::vector<SlurmJob>> list_jobs(const SlurmCommands& commands) {
  const Result<std::string> json = commands.run(SlurmTool::kSqueue, {"--json", "--states=all"});
  if (json.status().code() == Code::kUnavailable) return json.status();
  if (json.ok()) {
    Result<std::vector<SlurmJob>> jobs = parse_squeue_json(*json);
    if (jobs.ok() || jobs.status().code() == Code::kUnavailable) return jobs;
  }
  // It is older than --json, was built without it, or has more to say than we take.
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string lines, commands.run(SlurmTool::kScontrol, {"-o", "show", "job"}));
  return parse_scontrol_jobs(lines);
}

const SlurmJob* find_job(const std::vector<SlurmJob>& jobs, const SlurmKey& key) {
  const auto found = std::find_if(jobs.begin(), jobs.end(), [&](const SlurmJob& job) { return job.key() == key; });
  return found == jobs.end() ? nullptr : &*found;
}

}  // namespace trainwarden::slurm
