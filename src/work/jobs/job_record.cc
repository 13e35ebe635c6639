#include "work/jobs/job_record.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "core/base/bytes.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "data/format/json.h"
#include "store/storage/lock_holder.h"
#include "work/jobs/job_processes.h"
#include "work/jobs/job_spec.h"
#include "work/jobs/owner_seal.h"

namespace trainwarden::jobs {
namespace {

constexpr const char* kAgentLease = "agent";
constexpr const char* kRankFolder = "ranks";
constexpr std::uint64_t kMaxFileBytes = std::uint64_t{4} << 20;
constexpr std::size_t kMaxTransitions = 10'000;  // of a folder that anybody may have written
constexpr std::ptrdiff_t kMaxUploadsLost = 3;

std::string transition_file(std::int64_t seq) {
  return fmt::format("{}/{:06}.json", kStateFolder, seq);
}

std::string attempt_folder(int attempt) {
  return fmt::format("attempts/{}", attempt);
}

std::string allocation_file(int attempt) {
  return attempt_folder(attempt) + "/allocation.json";
}

std::string setup_file(int attempt) {
  return attempt_folder(attempt) + "/setup.json";
}

std::string container_file(int attempt) {
  return attempt_folder(attempt) + "/container.json";
}

std::string out_of_memory_file(int attempt) {
  return attempt_folder(attempt) + "/out-of-memory";
}

std::string ranks_file(int attempt) {
  return attempt_folder(attempt) + "/ranks.json";
}

std::string exit_file(int attempt) {
  return attempt_folder(attempt) + "/exit.json";
}

std::string launch_file(int attempt) {
  return attempt_folder(attempt) + "/launch.json";
}

std::string first_failure_file(int attempt) {
  return attempt_folder(attempt) + "/first-failure.json";
}

std::ptrdiff_t count_causes(const std::vector<Transition>& all, std::string_view cause) {
  return std::count_if(all.begin(), all.end(), [cause](const Transition& one) { return one.cause == cause; });
}

// Of the order in this folder.
std::uint64_t order_identity(const storage::Location& place) {
  return place.storage().info(kOrderFile).value_or({}).identity;
}

Status damaged_order(const std::string& job, const Status& why) {
  return Status(why.code(),
                fmt::format("job {0} is damaged: {1}; `trainwarden job logs {0}` still shows what it printed, "
                            "`trainwarden job rm {0}` removes it",
                            job, why.message()));
}

struct Ending {
  JobPhase phase;
  std::string message;
  std::string cause = "program";
};

JobPhase stopped_as(const std::string& cause) {
  if (cause == "max_run") return JobPhase::kMaxRuntimeExceeded;
  if (cause == "max_wait") return JobPhase::kMaxWaitTimeExceeded;
  return JobPhase::kStopped;
}

// Each was one of the job's retries.
std::ptrdiff_t count_losses(const std::vector<Transition>& all) {
  return std::count_if(all.begin(), all.end(), [](const Transition& one) {
    return one.status == JobPhase::kInterrupted && (one.cause == kAgentLost || one.cause == kRankLost);
  });
}

Ending ending_of(const Transition& now, const JobExit& exit, bool may_go_on, bool has_retries_left) {
  if (now.status == JobPhase::kStopping) return {stopped_as(now.cause), how_it_ended(exit)};
  if (exit.code == 0 && !exit.preempted) return {JobPhase::kCompleted, how_it_ended(exit)};
  if (exit.preempted && may_go_on) return {JobPhase::kInterrupted, "it was to make room: " + how_it_ended(exit)};
  if (exit.preempted) return {JobPhase::kFailed, "InternalServerError: it was to make room: " + how_it_ended(exit)};
  if (has_retries_left && asks_for_another_attempt(exit)) {
    return {JobPhase::kInterrupted, how_it_ended(exit), kRankLost};
  }
  return {JobPhase::kFailed, "AlgorithmError: " + how_it_ended(exit)};
}

}  // namespace

Result<JobRecord> JobRecord::create(const storage::Location& jobs, const JobOrder& order) {
  if (!is_job_name(order.name)) {
    return Status(Code::kInvalidArgument, no_job_name(order.name));
  }
  storage::Storage& all = jobs.storage();
  TRAINWARDEN_RETURN_IF_ERROR(all.create_folder(order.name + "/" + kStateFolder));
  const storage::Location place = jobs.beneath(order.name);
  // Whoever writes the order owns the name.
  const Status ordered = place.storage().put_if_absent(kOrderFile, as_bytes(encode_order(order)));
  if (ordered.code() == Code::kAlreadyExists) {
    return Status(Code::kAlreadyExists, fmt::format("there is a job \"{}\" already", order.name));
  }
  TRAINWARDEN_RETURN_IF_ERROR(ordered);
  return JobRecord(place, order, order_identity(place));
}

Status JobRecord::check_seal() const {
  JobOrder unsealed = order_;
  unsealed.seal.clear();
  return check_owner_seal(encode_order(unsealed), place_.absolute().path().parent_path(), order_.seal,
                          fmt::format("job {}", order_.name));
}

Result<JobRecord> JobRecord::open(const storage::Location& jobs, const std::string& name) {
  if (is_job_name(name)) {
    storage::Location place = jobs.beneath(name);
    const std::uint64_t identity = order_identity(place);  // before the content: another one is seen as such
    const Result<std::string> text = place.storage().read(kOrderFile, kMaxFileBytes);
    if (text.ok()) {
      Result<JobOrder> order = decode_order(*text, place.storage().describe(kOrderFile));
      if (!order.ok()) return damaged_order(name, order.status());
      return JobRecord(std::move(place), *std::move(order), identity);
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
  return place_.path() / kOutputFile;
}

std::filesystem::path JobRecord::agent_log() const {
  return place_.path() / kAgentLogFile;
}

std::filesystem::path JobRecord::rank_log(std::int64_t rank) const {
  return place_.path() / kRankFolder / fmt::format("{}.log", rank);
}

Result<std::filesystem::path> JobRecord::prepare_rank_log(std::int64_t rank) const {
  TRAINWARDEN_RETURN_IF_ERROR(place_.storage().create_folder(kRankFolder));
  return rank_log(rank);
}

Result<std::vector<Transition>> JobRecord::transitions() const {
  std::vector<Transition> all = {{1, order_.submitted_unix_ns, JobPhase::kPending, "submit", "submitted"}};
  while (all.size() < kMaxTransitions) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<Transition> next, read_transition(all.back().seq + 1));
    if (!next) break;
    all.push_back(*std::move(next));
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_is_there());
  return all;
}

// After a look for transitions: where none was found there may be no job any more. One that was submitted under its
// name since is another one.
Status JobRecord::check_is_there() const {
  const std::uint64_t identity = order_identity(place_);
  if (identity != 0 && identity == identity_) return {};
  const Result<std::string> text = place_.storage().read(kOrderFile, kMaxFileBytes);
  bool is_gone = text.status().code() == Code::kNotFound;
  if (text.ok()) {  // a file may change without its content, as by chmod
    const Result<JobOrder> found = decode_order(*text, kOrderFile);
    is_gone = found.ok() && *found != order_;
  }
  return is_gone ? Status(Code::kNotFound, fmt::format("job {} was removed meanwhile", order_.name)) : Status();
}

Result<std::optional<Transition>> JobRecord::read_transition(std::int64_t seq) const {
  const std::string file = transition_file(seq);
  const Result<std::string> text = place_.storage().read(file, kMaxFileBytes);
  if (text.status().code() == Code::kNotFound) return std::optional<Transition>();
  if (!text.ok()) return text.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(Transition transition, decode_transition(*text, place_.storage().describe(file)));
  if (transition.seq != seq) {
    return Status(Code::kDataLoss,
                  fmt::format("{}: seq: expected {}, found {}", place_.storage().describe(file), seq, transition.seq));
  }
  return std::optional<Transition>(std::move(transition));
}

Result<Transition> JobRecord::current() const {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<Transition> all, transitions());
  return std::move(all.back());
}

Result<Transition> JobRecord::newest_after(const Transition& known) const {
  Transition newest = known;
  while (newest.seq < static_cast<std::int64_t>(kMaxTransitions)) {
    TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<Transition> next, read_transition(newest.seq + 1));
    if (!next) break;
    newest = *std::move(next);
  }
  TRAINWARDEN_RETURN_IF_ERROR(check_is_there());
  return newest;
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

Status JobRecord::set_ranks(std::int64_t ranks) {
  if (ranks < 1 || ranks > order_.ranks) {
    return Status(Code::kInvalidArgument, fmt::format("job {} was submitted with {} ranks: expected 1 to {}, found {}",
                                                      order_.name, order_.ranks, order_.ranks, ranks));
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Transition> all, transitions());
  if (!is_terminal(all.back().status)) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("job {} has not ended: it is {}", order_.name, name(all.back().status)));
  }
  const int next = attempt_of(all) + 1;
  TRAINWARDEN_RETURN_IF_ERROR(prepare_attempt(next).status());
  return place_.storage().replace(ranks_file(next), as_bytes(format::dump_json({{"ranks", ranks}}) + "\n"));
}

Result<std::int64_t> JobRecord::ranks_in(int attempt) const {
  for (int earlier = attempt; earlier > 1; --earlier) {
    const std::string file = ranks_file(earlier);
    const Result<std::string> text = place_.storage().read(file, kMaxFileBytes);
    if (text.status().code() == Code::kNotFound) continue;
    TRAINWARDEN_RETURN_IF_ERROR(text.status());
    TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, format::parse_json_object(*text, file));
    return format::int_field(json, "ranks", 1, order_.ranks);
  }
  return order_.ranks;
}

Result<Transition> JobRecord::resume(const std::string& message, const Clock& clock) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Transition now, settle(clock));
  if (!is_terminal(now.status)) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("job {} has not ended: it is {}", order_.name, name(now.status)));
  }
  if (now.status == JobPhase::kCompleted) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("job {} is Completed; `trainwarden job repeat {}` runs it once more, as another job",
                              order_.name, order_.name));
  }
  return advance(now, JobPhase::kRestarting, "user", message, clock);
}

Result<std::unique_ptr<storage::Lease>> JobRecord::take_agent_lease(const Clock& clock) {
  return storage::take_lease(place_.storage(), kAgentLease, clock);
}

bool JobRecord::has_agent(const storage::Location& place, const Clock& clock) {
  return storage::is_leased(place.storage(), kAgentLease, clock);
}

Status JobRecord::signal_agent_to_stop() const {
  const std::string lock = storage::lock_of_lease(kAgentLease);
  const std::optional<std::int64_t> agent = place_.storage().lock_holder(lock);
  if (!agent) {
    return Status(Code::kNotFound, fmt::format("no agent of job {} is seen on this machine", order_.name));
  }
  return storage::signal_lock_holder(place_.storage(), lock, *agent, SIGINT);
}

std::optional<storage::LeaseSign> JobRecord::agent_sign(const Clock& clock) const {
  return storage::sign_of_life(place_.storage(), kAgentLease, clock);
}

Result<Transition> JobRecord::settle(const Clock& clock) {
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Transition> all, transitions());
    const Transition& now = all.back();
    if (is_terminal(now.status) || is_queued(now.status) || has_agent(clock)) return now;
    // It may have said its last word between our two looks.
    TRAINWARDEN_ASSIGN_OR_RETURN(const Transition again, newest_after(now));
    if (again.seq != now.seq) continue;
    Result<Transition> settled = give_up(all, clock);
    if (settled.status().code() == Code::kAborted) continue;
    if (settled.ok() && place_.folder()) kill_left_of(attempt_of(all));
    return settled;
  }
}

// Its agent is gone without a last word.
Result<Transition> JobRecord::give_up(const std::vector<Transition>& all, const Clock& clock) {
  const Transition& now = all.back();
  const int attempt = attempt_of(all);
  if (now.status == JobPhase::kStopping && all.size() > 1 && is_queued(all[all.size() - 2].status)) {
    return advance(now, stopped_as(now.cause), "agent", "stopped before its start", clock);
  }
  if (now.status == JobPhase::kUploading && count_causes(all, kUploadLost) < kMaxUploadsLost) {
    return advance(now, JobPhase::kInterrupted, kUploadLost, "its agent is gone before its results were stored", clock);
  }
  Result<std::optional<JobExit>> exit = read_exit(attempt);
  if (!exit.ok() || !*exit) exit = read_launch(attempt);
  if (exit.ok() && *exit) return finish(**exit, clock);
  if (now.status == JobPhase::kStopping) {
    return advance(now, stopped_as(now.cause), kAgentLost, "its agent is gone, and the program with it", clock);
  }
  if (count_losses(all) < order_.retries) {
    return advance(now, JobPhase::kInterrupted, kAgentLost, "its agent is gone, and the program with it", clock);
  }
  return advance(now, JobPhase::kFailed, kAgentLost, "InternalServerError: its agent is gone, and the program with it",
                 clock);
}

Result<Transition> JobRecord::finish(const JobExit& exit, const Clock& clock) {
  for (;;) {
    TRAINWARDEN_ASSIGN_OR_RETURN(Transition now, current());
    if (exit.stopped_by_rule) {
      TRAINWARDEN_ASSIGN_OR_RETURN(now, request_stop("rule", "a rule has stopped it", clock));
    }
    if (is_terminal(now.status) || is_queued(now.status)) return now;
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Transition> all, transitions());
    const bool has_retries_left = count_losses(all) < order_.retries;
    const Ending ending = ending_of(now, exit, order_.preemptible || order_.retries > 0, has_retries_left);
    Result<Transition> ended = advance(now, ending.phase, ending.cause, ending.message, clock);
    if (ended.status().code() != Code::kAborted) return ended;
  }
}

Result<std::filesystem::path> JobRecord::prepare_attempt(int attempt) {
  TRAINWARDEN_RETURN_IF_ERROR(place_.storage().create_folder(attempt_folder(attempt)));
  return place_.absolute().path() / launch_file(attempt);
}

Status JobRecord::write_allocation(int attempt, const Allocation& allocation) {
  TRAINWARDEN_RETURN_IF_ERROR(prepare_attempt(attempt).status());
  return place_.storage().replace(allocation_file(attempt), as_bytes(encode_allocation(allocation)));
}

Result<std::optional<Allocation>> JobRecord::read_allocation(int attempt) const {
  return read_optional(allocation_file(attempt), decode_allocation);
}

Status JobRecord::write_setup(int attempt, const AttemptSetup& setup) {
  TRAINWARDEN_RETURN_IF_ERROR(prepare_attempt(attempt).status());
  return place_.storage().replace(setup_file(attempt), as_bytes(encode_setup(setup)));
}

Result<std::optional<AttemptSetup>> JobRecord::read_setup(int attempt) const {
  return read_optional(setup_file(attempt), decode_setup);
}

Status JobRecord::write_container(int attempt, const AttemptContainer& container) {
  TRAINWARDEN_RETURN_IF_ERROR(prepare_attempt(attempt).status());
  const Status put = place_.storage().put_if_absent(container_file(attempt), as_bytes(encode_container(container)));
  return put.code() == Code::kAlreadyExists ? Status() : put;
}

Result<std::optional<AttemptContainer>> JobRecord::read_container(int attempt) const {
  return read_optional(container_file(attempt), decode_container);
}

Status JobRecord::note_out_of_memory(int attempt) {
  const Status put = place_.storage().put_if_absent(out_of_memory_file(attempt), {});
  return put.code() == Code::kAlreadyExists ? Status() : put;
}

bool JobRecord::was_out_of_memory(int attempt) const {
  return place_.storage().exists(out_of_memory_file(attempt));
}

void JobRecord::kill_left_of(int attempt) const {
  const std::filesystem::path folder = place_.absolute().path();
  const std::string key = attempt_key(folder, attempt);
  kill_processes_of(folder);
  if (const auto container = read_container(attempt); container.ok() && *container) {
    const Status removed = remove_containers(**container, key);
    if (!removed.ok()) log(LogLevel::kWarning, "{}", removed.message());
  }
  if (const auto setup = read_setup(attempt); setup.ok() && *setup) end_setup(**setup, key);
}

Status JobRecord::write_exit(int attempt, const JobExit& exit) {
  return place_.storage().put_if_absent(exit_file(attempt), as_bytes(encode_exit(exit)));
}

Result<std::optional<JobExit>> JobRecord::read_exit(int attempt) const {
  return read_optional(exit_file(attempt), decode_exit);
}

Result<std::optional<JobExit>> JobRecord::read_launch(int attempt) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::optional<JobExit> launch, read_optional(launch_file(attempt), decode_exit));
  if (!launch || launch->code == 0) return launch;
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::optional<JobExit> failure,
                               read_optional(first_failure_file(attempt), decode_exit));
  if (!failure) return launch;
  launch->rank = failure->rank;
  launch->code = failure->code;
  launch->signal = failure->signal;
  return launch;
}

Status JobRecord::write_first_failure(int attempt, const JobExit& exit) {
  return place_.storage().put_if_absent(first_failure_file(attempt), as_bytes(encode_exit(exit)));
}

template <class Content>
Result<std::optional<Content>> JobRecord::read_optional(const std::string& file,
                                                        Result<Content> (*decode)(std::string_view,
                                                                                  std::string_view)) const {
  const Result<std::string> text = place_.storage().read(file, kMaxFileBytes);
  if (text.status().code() == Code::kNotFound) return std::optional<Content>();
  if (!text.ok()) return text.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(Content content, decode(*text, place_.storage().describe(file)));
  return std::optional<Content>(std::move(content));
}

}  // namespace trainwarden::jobs
