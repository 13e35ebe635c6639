#include "work/jobs/job_record.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "work/jobs/job_processes.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::jobs {
namespace {

constexpr const char* kOrderFile = "job.json";
constexpr const char* kExitFile = "exit.json";
constexpr const char* kStateFolder = "state";
constexpr const char* kAgentLease = "agent";
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{4} << 20;
constexpr std::size_t kMaxTransitions = 10'000;  // of a folder that anybody may have written
constexpr std::int64_t kFormat = 1;
// An agent has so long to take its lease after the submission.
constexpr std::int64_t kAgentStartNs = 30'000'000'000;

std::string transition_file(std::int64_t seq) {
  return fmt::format("{}/{:06}.json", kStateFolder, seq);
}

std::string encode(const JobOrder& order) {
  return format::dump_json({{"format", kFormat},
                            {"name", order.name},
                            {"submitted", order.submitted_unix_ns},
                            {"command", order.command},
                            {"environment", order.environment},
                            {"folder", order.folder},
                            {"run", order.run},
                            {"max_run_seconds", order.max_run_seconds},
                            {"grace_seconds", order.grace_seconds},
                            {"spec", order.spec}}) +
         "\n";
}

Result<double> seconds_field(const format::Json& json, const char* field) {
  const auto found = json.find(field);
  if (found == json.end() || !found->is_number() || !(found->get<double>() >= 0)) {
    return Status(Code::kDataLoss, fmt::format("{}: expected a number of seconds", field));
  }
  return found->get<double>();
}

Result<std::map<std::string, std::string>> texts_by_name(const format::Json& json, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json* const object, format::object_field(json, field));
  std::map<std::string, std::string> texts;
  for (const auto& [name, value] : object->items()) {
    if (!value.is_string()) return Status(Code::kDataLoss, fmt::format("{}: expected texts", field));
    texts.emplace(name, value.get<std::string>());
  }
  return texts;
}

Result<JobOrder> decode_order(std::string_view text, const std::string& what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t version, format::int_field(json, "format", 1));
  if (version > kFormat) {
    return Status(Code::kUnimplemented,
                  fmt::format("{}: of a newer version of Trainwarden (format {})", what, version));
  }
  JobOrder order;
  TRAINWARDEN_ASSIGN_OR_RETURN(order.name, format::string_field(json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.submitted_unix_ns, format::int_field(json, "submitted", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.command, format::strings_field(json, "command"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.environment, texts_by_name(json, "environment"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.folder, format::string_field(json, "folder"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.run, format::string_field(json, "run"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.max_run_seconds, seconds_field(json, "max_run_seconds"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.grace_seconds, seconds_field(json, "grace_seconds"));
  TRAINWARDEN_ASSIGN_OR_RETURN(order.spec, format::string_field(json, "spec"));
  return order;
}

format::OrderedJson number_or_null(std::optional<int> number) {
  return number ? format::OrderedJson(*number) : format::OrderedJson(nullptr);
}

Result<std::optional<int>> number_or_nothing(const format::Json& json, const char* field) {
  const auto found = json.find(field);
  if (found != json.end() && found->is_null()) return std::optional<int>();
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::int64_t number, format::int_field(json, field, 0, 255));
  return std::optional<int>(static_cast<int>(number));
}

std::string how_it_ended(const JobExit& exit) {
  if (exit.killed) return "it did not end by itself and was killed";
  if (exit.code) return fmt::format("the program has ended with exit code {}", *exit.code);
  if (exit.signal) return fmt::format("the program was ended by signal {}", *exit.signal);
  return "nobody knows how the program has ended";
}

struct Ending {
  JobPhase phase;
  std::string message;
};

Ending ending_of(const Transition& now, const JobExit& exit) {
  if (now.status == JobPhase::kStopping) {
    return {now.cause == "max_run" ? JobPhase::kMaxRuntimeExceeded : JobPhase::kStopped, how_it_ended(exit)};
  }
  if (exit.code == 0) return {JobPhase::kCompleted, how_it_ended(exit)};
  return {JobPhase::kFailed, "AlgorithmError: " + how_it_ended(exit)};
}

}  // namespace

Result<JobRecord> JobRecord::create(const storage::Location& jobs, const JobOrder& order) {
  if (!is_job_name(order.name)) {
    return Status(Code::kInvalidArgument, fmt::format("\"{}\" is no name of a job", printable(order.name)));
  }
  storage::Storage& all = jobs.storage();
  TRAINWARDEN_RETURN_IF_ERROR(all.create_folder(order.name + "/" + kStateFolder));
  JobRecord record(jobs.beneath(order.name), order);
  // Whoever writes the order owns the name.
  const Status ordered = record.place_.storage().put_if_absent(kOrderFile, as_bytes(encode(order)));
  if (ordered.code() == Code::kAlreadyExists) {
    return Status(Code::kAlreadyExists, fmt::format("there is a job \"{}\" already", order.name));
  }
  TRAINWARDEN_RETURN_IF_ERROR(ordered);
  return record;
}

Result<JobRecord> JobRecord::open(const storage::Location& jobs, const std::string& name) {
  if (is_job_name(name)) {
    storage::Location place = jobs.beneath(name);
    const Result<std::string> text = place.storage().read(kOrderFile, kMaxFileBytes);
    if (text.ok()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(JobOrder order, decode_order(*text, place.storage().describe(kOrderFile)));
      return JobRecord(std::move(place), std::move(order));
    }
    if (text.status().code() != Code::kNotFound) return text.status();
  }
  const std::vector<std::string> names = list(jobs).value_or({});
  return Status(Code::kNotFound, fmt::format("there is no job \"{}\" in {}{}", printable(name),
                                             printable(jobs.address()), did_you_mean(name, names)));
}

Result<std::vector<std::string>> JobRecord::list(const storage::Location& jobs) {
  const Result<std::vector<storage::Entry>> entries = jobs.storage().entries("");
  if (entries.status().code() == Code::kNotFound) return std::vector<std::string>();
  if (!entries.ok()) return entries.status();
  std::vector<std::string> names;
  for (const storage::Entry& entry : *entries) {
    const bool is_job = entry.info.kind == storage::FileInfo::Kind::kFolder && is_job_name(entry.name) &&
                        jobs.storage().exists(entry.name + "/" + kOrderFile);
    if (is_job) names.push_back(entry.name);
  }
  return names;
}

std::filesystem::path JobRecord::output() const {
  return place_.path() / "output.log";
}

std::filesystem::path JobRecord::agent_log() const {
  return place_.path() / "agent.log";
}

Result<std::vector<Transition>> JobRecord::transitions() const {
  std::vector<Transition> all = {{1, order_.submitted_unix_ns, JobPhase::kPending, "submit", "submitted"}};
  for (std::size_t seq = 2; seq <= kMaxTransitions; ++seq) {
    const std::string file = transition_file(static_cast<std::int64_t>(seq));
    const Result<std::string> text = place_.storage().read(file, kMaxFileBytes);
    if (text.status().code() == Code::kNotFound) break;
    if (!text.ok()) return text.status();
    TRAINWARDEN_ASSIGN_OR_RETURN(Transition transition, decode_transition(*text, place_.storage().describe(file)));
    all.push_back(std::move(transition));
  }
  return all;
}

Result<Transition> JobRecord::current() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<Transition> all, transitions());
  return std::move(all.back());
}

Result<Transition> JobRecord::advance(const Transition& from, JobPhase to, const std::string& cause,
                                      const std::string& message, const Clock& clock) {
  if (!may_follow(from.status, to)) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("job {} is {} and cannot become {}", order_.name, name(from.status), name(to)));
  }
  const Transition next{from.seq + 1, std::max(clock.unix_ns(), from.unix_ns), to, cause, message};
  const Status put = place_.storage().put_if_absent(transition_file(next.seq), as_bytes(encode_transition(next)));
  if (put.code() == Code::kAlreadyExists) {
    return Status(Code::kAborted, fmt::format("job {} has moved on meanwhile", order_.name));
  }
  TRAINWARDEN_RETURN_IF_ERROR(put);
  return next;
}

Result<Transition> JobRecord::request_stop(const std::string& cause, const std::string& message, const Clock& clock) {
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Transition now, current());
    if (is_terminal(now.status) || now.status == JobPhase::kStopping) return now;
    Result<Transition> stopping = advance(now, JobPhase::kStopping, cause, message, clock);
    if (stopping.status().code() != Code::kAborted) return stopping;
  }
}

Result<std::unique_ptr<storage::Lease>> JobRecord::take_agent_lease(const Clock& clock) {
  return storage::take_lease(place_.storage(), kAgentLease, clock);
}

Result<Transition> JobRecord::settle(const Clock& clock) {
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Transition now, current());
    const bool starts = now.status == JobPhase::kPending && clock.unix_ns() - now.unix_ns < kAgentStartNs;
    if (is_terminal(now.status) || starts || storage::is_leased(place_.storage(), kAgentLease, clock)) return now;
    // It may have said its last word between our two looks.
    TRAINWARDEN_ASSIGN_OR_RETURN(const Transition again, current());
    if (again.seq != now.seq) continue;
    const Result<std::optional<JobExit>> exit = read_exit();
    if (exit.ok() && *exit) return finish(**exit, clock);
    Result<Transition> failed = advance(now, JobPhase::kFailed, "agent lost",
                                        "InternalServerError: its agent is gone, and the program with it", clock);
    if (failed.status().code() == Code::kAborted) continue;
    if (failed.ok() && place_.folder()) kill_processes_of(place_.absolute().path());
    return failed;
  }
}

Result<Transition> JobRecord::finish(const JobExit& exit, const Clock& clock) {
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Transition now, current());
    if (exit.stopped_by_rule) {
      TRAINWARDEN_ASSIGN_OR_RETURN(now, request_stop("rule", "a rule has stopped it", clock));
    }
    if (is_terminal(now.status)) return now;
    const Ending ending = ending_of(now, exit);
    Result<Transition> ended = advance(now, ending.phase, "program", ending.message, clock);
    if (ended.status().code() != Code::kAborted) return ended;
  }
}

std::string encode_exit(const JobExit& exit) {
  return format::dump_json({{"code", number_or_null(exit.code)},
                            {"signal", number_or_null(exit.signal)},
                            {"wall_ns", exit.wall_ns},
                            {"stopped_by_rule", exit.stopped_by_rule},
                            {"killed", exit.killed}}) +
         "\n";
}

Result<JobExit> decode_exit(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(text, what));
  JobExit exit;
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.code, number_or_nothing(json, "code"));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.signal, number_or_nothing(json, "signal"));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.wall_ns, format::int_field(json, "wall_ns", 0));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.stopped_by_rule, format::bool_field(json, "stopped_by_rule"));
  TRAINWARDEN_ASSIGN_OR_RETURN(exit.killed, format::bool_field(json, "killed"));
  return exit;
}

Status JobRecord::write_exit(const JobExit& exit) {
  return place_.storage().put_if_absent(kExitFile, as_bytes(encode_exit(exit)));
}

Result<std::optional<JobExit>> JobRecord::read_exit() const {
  return read_optional_exit(kExitFile);
}

Result<std::optional<JobExit>> JobRecord::read_launch() const {
  return read_optional_exit(kLaunchFile);
}

Result<std::optional<JobExit>> JobRecord::read_optional_exit(const char* file) const {
  const Result<std::string> text = place_.storage().read(file, kMaxFileBytes);
  if (text.status().code() == Code::kNotFound) return std::optional<JobExit>();
  if (!text.ok()) return text.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(JobExit exit, decode_exit(*text, place_.storage().describe(file)));
  return std::optional<JobExit>(exit);
}

}  // namespace trainwarden::jobs
