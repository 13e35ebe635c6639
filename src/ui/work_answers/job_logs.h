// What the processes of a job printed, in pieces: a log may have gigabytes.
//
// A log is known by its id: "output" and "agent", "rank-N" of each rank (JOB/ranks/N.log), "rule-NAME" of each rule's
// evaluation (JOB/rules/NAME.log). Ids are looked up in what lies in the job's folder; no path comes from a client, and
// no link is followed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::work_answers {

inline constexpr std::size_t kMostLogs = 2'000;  // of each kind; what comes after is left out

struct JobLog {
  std::string id;
  std::string kind;  // "output", "agent", "rank", "rule"
  std::string name;  // of the rank or the rule; empty of the others
  std::string file;  // within the job's folder
  std::uint64_t bytes = 0;
};

// "rule-LossSpike": the id of the log of the rule with this id.
std::string rule_log_id(std::string_view rule_id);

// Output and agent first, then ranks by number, then rules by name. Those that are not there yet are left out.
std::vector<JobLog> list_job_logs(const jobs::JobRecord& job);

struct LogPiece {
  std::uint64_t from = 0;
  std::uint64_t to = 0;     // where the next piece begins
  std::uint64_t bytes = 0;  // of the whole log, now
  std::string text;         // as it was printed, up to a whole character of UTF-8
};

// Which bytes of a log: those from a place on, or the last ones before a place, which begin with a line.
struct LogRange {
  std::optional<std::uint64_t> from;
  std::optional<std::uint64_t> before;  // without `from`; nothing: the end of the log
  std::size_t limit = 256u << 10;
};

// kNotFound when there is no such log, and the storage's errors.
Result<LogPiece> read_log_piece(const jobs::JobRecord& job, const std::string& id, const LogRange& range);

// How much of a text is whole when it was cut anywhere: all but the beginning of a character at its end.
std::size_t whole_length(std::string_view text);

}  // namespace trainwarden::work_answers
