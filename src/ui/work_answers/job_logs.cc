#include "ui/work_answers/job_logs.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "work/jobs/job_rules.h"

namespace trainwarden::work_answers {
namespace {

using storage::Entry;
using storage::FileInfo;

constexpr std::string_view kLogEnding = ".log";

void add_log(const jobs::JobRecord& job, const char* id, const std::string& file, std::vector<JobLog>& logs) {
  const auto info = job.place().storage().info(file);
  if (info.ok() && info->kind == FileInfo::Kind::kFile) logs.push_back({id, id, "", file, info->bytes});
}

// By number where both are one.
bool comes_before(const JobLog& a, const JobLog& b) {
  const auto first = parse_int(a.name);
  const auto second = parse_int(b.name);
  if (first && second && *first != *second) return *first < *second;
  if (first.has_value() != second.has_value()) return first.has_value();
  return a.name < b.name;
}

void add_folder(const jobs::JobRecord& job, const std::string& folder, const std::string& kind,
                std::vector<JobLog>& logs) {
  const auto entries = job.place().storage().entries(folder);
  if (!entries.ok()) return;
  std::vector<JobLog> found;
  for (const Entry& entry : *entries) {
    if (found.size() == kMostLogs) break;
    if (entry.info.kind != FileInfo::Kind::kFile || !entry.name.ends_with(kLogEnding)) continue;
    const std::string name = entry.name.substr(0, entry.name.size() - kLogEnding.size());
    found.push_back({kind + "-" + name, kind, name, folder + "/" + entry.name, entry.info.bytes});
  }
  std::sort(found.begin(), found.end(), comes_before);
  std::move(found.begin(), found.end(), std::back_inserter(logs));
}

Result<JobLog> find_log(const jobs::JobRecord& job, const std::string& id) {
  for (JobLog& log : list_job_logs(job)) {
    if (log.id == id) return std::move(log);
  }
  return Status(Code::kNotFound, fmt::format("job {} has no log \"{}\" yet; its answer lists those that it has",
                                             job.order().name, printable(id)));
}

// Unless it is one line alone.
void begin_with_line(LogPiece& piece) {
  const std::size_t line = piece.text.find('\n') + 1;  // 0: there is no end of a line
  if (line == piece.text.size()) return;
  piece.text.erase(0, line);
  piece.from += line;
}

}  // namespace

std::string rule_log_id(std::string_view rule_id) {
  const std::string file = jobs::rule_log_file(rule_id);
  const std::size_t name = file.rfind('/') + 1;
  return "rule-" + file.substr(name, file.size() - name - kLogEnding.size());
}

std::vector<JobLog> list_job_logs(const jobs::JobRecord& job) {
  std::vector<JobLog> logs;
  add_log(job, "output", job.output().filename(), logs);
  add_log(job, "agent", job.agent_log().filename(), logs);
  add_folder(job, "ranks", "rank", logs);
  add_folder(job, jobs::kRuleFolder, "rule", logs);
  return logs;
}

std::size_t whole_length(std::string_view text) {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const auto byte = static_cast<unsigned char>(text[text.size() - back]);
    if ((byte & 0xc0) == 0x80) continue;  // within a character
    const std::size_t needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? text.size() - back : text.size();
  }
  return text.size();
}

Result<LogPiece> read_log_piece(const jobs::JobRecord& job, const std::string& id, const LogRange& range) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const JobLog log, find_log(job, id));
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, job.place().storage().open(log.file));
  LogPiece piece;
  TRAINWARDEN_ASSIGN_OR_RETURN(piece.bytes, file->bytes());
  const std::uint64_t end = range.from ? piece.bytes : std::min(range.before.value_or(piece.bytes), piece.bytes);
  piece.from = range.from.value_or(end > range.limit ? end - range.limit : 0);
  piece.text.resize(piece.from < end ? std::min<std::uint64_t>(range.limit, end - piece.from) : 0);
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const std::size_t count,
      file->read_at(piece.from, {reinterpret_cast<std::byte*>(piece.text.data()), piece.text.size()}));
  piece.text.resize(count);
  if (!range.from && piece.from > 0) begin_with_line(piece);
  piece.text.resize(whole_length(piece.text));
  piece.to = piece.from + piece.text.size();
  return piece;
}

}  // namespace trainwarden::work_answers
