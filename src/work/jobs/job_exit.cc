#include "work/jobs/job_exit.h"

#include <csignal>

#include <fmt/format.h>

#include "data/format/json.h"

namespace trainwarden::jobs {
namespace {

template <class Number>
format::OrderedJson number_or_null(std::optional<Number> number) {
  return number ? format::OrderedJson(*number) : format::OrderedJson(nullptr);
}

// Of a job that has one process, and of records that are older than ranks, there is none.
Result<std::optional<std::int64_t>> rank_or_nothing(const format::Json& json) {
  const auto found = json.find("rank");
  if (found == json.end() || found->is_null()) return std::optional<std::int64_t>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t rank, format::int_field(json, "rank", 0));
  return std::optional<std::int64_t>(rank);
}

Result<std::optional<int>> number_or_nothing(const format::Json& json, const char* field) {
  const auto found = json.find(field);
  if (found != json.end() && found->is_null()) return std::optional<int>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t number, format::int_field(json, field, 0, 255));
  return std::optional<int>(static_cast<int>(number));
}

bool says(const format::Json& json, const char* field) {
  const auto found = json.find(field);
  return found != json.end() && !found->is_null();
}

// What records of earlier versions do not have.
Status read_use(const format::Json& json, JobExit& exit) {
  if (says(json, "out_of_memory")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(exit.out_of_memory, format::bool_field(json, "out_of_memory"));
  }
  if (says(json, "peak_memory_bytes")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(exit.peak_memory_bytes, format::uint_field(json, "peak_memory_bytes"));
  }
  if (says(json, "cpu_ns")) {
    TRAINWARDEN_ASSIGN_OR_RETURN(exit.cpu_ns, format::int_field(json, "cpu_ns", 0));
  }
  return Status();
}

}  // namespace

bool asks_for_another_attempt(const JobExit& exit) {
  if (exit.out_of_memory || exit.killed) return false;
  return exit.code == kStartAgainCode || (exit.rank && exit.signal == SIGKILL);
}

std::string how_it_ended(const JobExit& exit) {
  if (exit.killed) return "it did not end by itself and was killed";
  const std::string who = exit.rank ? fmt::format("rank {}", *exit.rank) : "the program";
  const std::string_view memory = exit.out_of_memory ? "out of memory: " : "";
  const std::string why = exit.code == 0 || exit.failure.empty() ? "" : ": " + exit.failure;
  if (exit.code) return fmt::format("{}{} has ended with exit code {}{}", memory, who, *exit.code, why);
  if (exit.signal) return fmt::format("{}{} was ended by signal {}", memory, who, *exit.signal);
  return "nobody knows how the program has ended";
}

std::string encode_exit(const JobExit& exit) {
  return format::dump_json({{"rank", exit.rank ? format::OrderedJson(*exit.rank) : format::OrderedJson(nullptr)},
                            {"code", number_or_null(exit.code)},
                            {"signal", number_or_null(exit.signal)},
                            {"wall_ns", exit.wall_ns},
                            {"stopped_by_rule", exit.stopped_by_rule},
                            {"killed", exit.killed},
                            {"preempted", exit.preempted},
                            {"out_of_memory", exit.out_of_memory},
                            {"peak_memory_bytes", number_or_null(exit.peak_memory_bytes)},
                            {"cpu_ns", number_or_null(exit.cpu_ns)},
                            {"failure", exit.failure}}) +
         "\n";
}

Result<JobExit> decode_exit(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  JobExit exit;
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.rank, rank_or_nothing(json));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.code, number_or_nothing(json, "code"));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.signal, number_or_nothing(json, "signal"));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.wall_ns, format::int_field(json, "wall_ns", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.stopped_by_rule, format::bool_field(json, "stopped_by_rule"));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.killed, format::bool_field(json, "killed"));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.preempted, format::bool_field(json, "preempted"));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.failure, format::string_field(json, "failure"));
  TRAINWARDEN_RETURN_IF_ERROR(read_use(json, exit));
  return exit;
}

}  // namespace trainwarden::jobs
