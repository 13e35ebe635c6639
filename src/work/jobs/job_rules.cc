#include "work/jobs/job_rules.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/crc32c.h"
#include "core/base/file_descriptor.h"
#include "core/base/log.h"
#include "data/format/json.h"
#include "store/storage/beneath.h"
#include "store/storage/system_error.h"

namespace trainwarden::jobs {
namespace {

constexpr std::uint64_t kMaxRuleFileBytes = std::uint64_t{64} << 10;
constexpr std::string_view kRuleFileEnding = ".json";
constexpr std::string_view kLogIsFull = "the log is full: what follows is in the events of the run alone\n";

std::string rule_file(std::string_view rule_id) {
  return fmt::format("{}/{}{}", kRuleFolder, rule_file_name(rule_id), kRuleFileEnding);
}

std::string encode_rule(const JobRule& rule) {
  return format::dump_json({{"rule", rule.id},
                            {"status", rule.status},
                            {"details", rule.details},
                            {"changed_unix_ns", rule.changed_unix_ns},
                            {"alerts", rule.alerts},
                            {"step", rule.step},
                            {"newest_unix_ns", rule.newest_unix_ns},
                            {"log_is_full", rule.log_is_full}}) +
         "\n";
}

Result<JobRule> decode_rule(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  JobRule rule;
  TRAINWARDEN_ASSIGN_OR_RETURN(rule.id, format::string_field(json, "rule"));
  TRAINWARDEN_ASSIGN_OR_RETURN(rule.status, format::string_field(json, "status"));
  TRAINWARDEN_ASSIGN_OR_RETURN(rule.details, format::string_field(json, "details"));
  TRAINWARDEN_ASSIGN_OR_RETURN(rule.changed_unix_ns, format::int_field(json, "changed_unix_ns", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(rule.alerts, format::int_field(json, "alerts", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(rule.step, format::int_field(json, "step", -1));
  TRAINWARDEN_ASSIGN_OR_RETURN(rule.newest_unix_ns, format::int_field(json, "newest_unix_ns", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(rule.log_is_full, format::bool_field(json, "log_is_full"));
  return rule;
}

Status write_rule_log(const FileDescriptor& file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return storage::system_error(errno, "write", path);
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return Status();
}

Result<JobRule> read_rule_file(const storage::Location& job, const std::string& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string text, job.storage().read(file, kMaxRuleFileBytes));
  return decode_rule(text, job.storage().describe(file));
}

}  // namespace

std::string rule_file_name(std::string_view rule_id) {
  constexpr std::size_t kMaxNameBytes = 100;
  std::string name(rule_id.substr(0, kMaxNameBytes));
  std::replace_if(
      name.begin(), name.end(),
      [](char c) {
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        return !letter && !(c >= '0' && c <= '9') && c != '-' && c != '_';
      },
      '_');
  if (name == rule_id && !name.empty()) return name;
  return fmt::format("{}.{:08x}", name, crc32c(as_bytes(rule_id)));
}

std::string rule_log_file(std::string_view rule_id) {
  return fmt::format("{}/{}.log", kRuleFolder, rule_file_name(rule_id));
}

Result<JobRule> JobRules::read(std::string_view rule_id) const {
  const std::string file = rule_file(rule_id);
  TRAINWARDEN_ASSIGN_OR_RETURN(JobRule rule, read_rule_file(job_, file));
  if (rule.id == rule_id) return rule;
  return Status(Code::kDataLoss, fmt::format("{} is of another rule", job_.storage().describe(file)));
}

Result<std::vector<JobRule>> JobRules::list() const {
  const Result<std::vector<storage::Entry>> entries = job_.storage().entries(kRuleFolder);
  if (entries.status().code() == Code::kNotFound) return std::vector<JobRule>();
  if (!entries.ok()) return entries.status();
  std::vector<JobRule> rules;
  std::size_t looked_at = 0;
  for (const storage::Entry& entry : *entries) {
    if (entry.info.kind != storage::FileInfo::Kind::kFile || !entry.name.ends_with(kRuleFileEnding)) continue;
    if (++looked_at > kMaxListedRules) break;
    const std::string file = fmt::format("{}/{}", kRuleFolder, entry.name);
    Result<JobRule> rule = read_rule_file(job_, file);
    if (rule.ok() && rule_file(rule->id) == file) {
      rules.push_back(*std::move(rule));
    } else {
      log(LogLevel::kWarning, "the status of a rule is left out: {}",
          rule.ok() ? job_.storage().describe(file) + " is of another rule" : rule.status().message());
    }
  }
  std::sort(rules.begin(), rules.end(), [](const JobRule& a, const JobRule& b) { return a.id < b.id; });
  return rules;
}

Status JobRules::append(JobRule& rule, std::string_view line) const {
  const std::string file = rule_log_file(rule.id);
  const storage::Beneath folder(job_.absolute().path());
  // A pipe that somebody has put there is not waited for.
  constexpr int kFlags = O_WRONLY | O_CREAT | O_APPEND | O_NONBLOCK | O_NOCTTY;
  constexpr mode_t kMode = 0666;
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor log, folder.open(file, kFlags, "write", kMode));
  struct stat info {};
  if (::fstat(log.get(), &info) != 0) return storage::system_error(errno, "look at", folder.describe(file));
  rule.log_is_full = static_cast<std::uint64_t>(info.st_size) + line.size() + kLogIsFull.size() > kMaxRuleLogBytes;
  const std::string text = rule.log_is_full ? std::string(kLogIsFull) : fmt::format("{}\n", line);
  return write_rule_log(log, text, folder.describe(file));
}

Status JobRules::record(JobRule& rule, std::string_view line) {
  TRAINWARDEN_RETURN_IF_ERROR(job_.storage().create_folder(kRuleFolder));
  if (!rule.log_is_full) TRAINWARDEN_RETURN_IF_ERROR(append(rule, line));
  return job_.storage().replace(rule_file(rule.id), as_bytes(encode_rule(rule)));
}

JobRule settled_rule(JobRule rule, const Transition& now) {
  const bool is_open = rule.status == "InProgress" || rule.status == "Stopping";
  if (!is_open || !is_terminal(now.status)) return rule;
  rule.status = "Stopped";
  rule.details = "the job has ended, and its rules were not judged to their end";
  rule.changed_unix_ns = now.unix_ns;
  return rule;
}

}  // namespace trainwarden::jobs
