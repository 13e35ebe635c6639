#include "react/events/run_facts.h"

#include <signal.h>

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace trainwarden::events {
namespace {

using S = SecondaryStatus;

constexpr const char* kDiedText =
    "the training died without a word: its process was killed, ran out of memory, or its machine went down";

std::int64_t attempt_start(const RunTable& table) {
  std::int64_t start = 0;
  for (const RunTransition& row : table.transitions()) {
    if (row.status == S::kRestarting) start = row.start_unix_ns;
  }
  return start;
}

std::string asked_text(const StopFact& stop) {
  return fmt::format("{} (asked for by {})", stop.request.reason.empty() ? "no reason given" : stop.request.reason,
                     stop.request.requested_by.empty() ? "somebody" : stop.request.requested_by);
}

// Signals that end a program from outside, when it does not come by itself.
bool ended_from_outside(int exit_code) {
  return exit_code == 128 + SIGTERM || exit_code == 128 + SIGKILL || exit_code == 128 + SIGINT;
}

NextStatus stopped(const StopFact* stop, std::int64_t unix_ns) {
  return {S::kStopped, unix_ns, stop == nullptr ? "it ended after a request to stop" : asked_text(*stop)};
}

std::int64_t last_sign(const RunFacts& facts) {
  return facts.last_unix_ns > 0 ? facts.last_unix_ns : facts.created_unix_ns;
}

// How the program ended has the word over what its files say.
std::optional<NextStatus> end_by_program(const RunFacts& facts, const StopFact* stop) {
  const auto [code, unix_ns] = *facts.program_end;
  if (facts.writing) return std::nullopt;  // another process of the training goes on
  if (stop != nullptr && stop->accepted_unix_ns > 0) return stopped(stop, unix_ns);
  if (facts.state == RunState::kStopped) return stopped(stop, unix_ns);
  if (code != 0) {
    if (stop != nullptr && ended_from_outside(code)) return stopped(stop, unix_ns);
    return NextStatus{S::kFailed, unix_ns, exit_text(code)};
  }
  if (facts.state != RunState::kDied) return NextStatus{S::kCompleted, unix_ns, "the program came to its end"};
  if (stop != nullptr) return stopped(stop, unix_ns);
  return NextStatus{S::kFailed, unix_ns, fmt::format("{}, although the program ended with exit code 0", kDiedText)};
}

std::optional<NextStatus> end_by_files(const RunFacts& facts, const StopFact* stop) {
  switch (facts.state) {
    case RunState::kRunning: return std::nullopt;
    case RunState::kCompleted: return NextStatus{S::kCompleted, facts.end_unix_ns, "the program came to its end"};
    case RunState::kStopped: return stopped(stop, facts.end_unix_ns);
    case RunState::kDied:
      if (stop != nullptr) return stopped(stop, last_sign(facts));
      return NextStatus{S::kFailed, last_sign(facts), kDiedText};
  }
  return std::nullopt;
}

std::optional<NextStatus> end_of(const RunFacts& facts, const StopFact* stop) {
  if (facts.program_end) return end_by_program(facts, stop);
  if (facts.program_end_awaited) return std::nullopt;
  return end_by_files(facts, stop);
}

// Another process has taken the run up, if it has.
std::optional<NextStatus> going_on(const RunTable& table, const RunFacts& facts) {
  const std::int64_t since = table.transitions().back().start_unix_ns;
  const bool ended_since = facts.state != RunState::kDied && facts.end_unix_ns > since;
  if (!facts.writing && !ended_since) return std::nullopt;
  const std::int64_t step = facts.first_step_after(since + 1);
  if (!facts.writing && step == 0) return std::nullopt;
  return NextStatus{S::kRestarting, step > 0 ? step : facts.now_unix_ns,
                    fmt::format("another process goes on with the run: attempt {}", table.attempt() + 1)};
}

NextStatus begins_to_train(std::int64_t unix_ns) {
  return {S::kTraining, unix_ns, "steps are being trained"};
}

}  // namespace

const StopFact* stop_of_attempt(const RunTable& table, const RunFacts& facts) {
  const std::int64_t start = attempt_start(table);
  const StopFact* chosen = nullptr;
  for (const StopFact& stop : facts.stops) {
    const bool accepted = stop.accepted_unix_ns > 0;
    if (accepted && stop.accepted_unix_ns < start) continue;  // the attempt before this one obeyed
    const bool chosen_accepted = chosen != nullptr && chosen->accepted_unix_ns > 0;
    const bool earlier = chosen == nullptr || stop.request.unix_ns < chosen->request.unix_ns;
    if (chosen == nullptr || (accepted == chosen_accepted ? earlier : accepted)) chosen = &stop;
  }
  return chosen;
}

std::optional<NextStatus> next_status(const RunTable& table, const RunFacts& facts) {
  if (table.empty()) {
    return NextStatus{S::kStarting, facts.created_unix_ns,
                      fmt::format("the run was created{}{}", facts.host.empty() ? "" : " on ", facts.host)};
  }
  const S now = table.status();
  if (is_terminal(now)) return going_on(table, facts);
  if (now == S::kInterrupted) {
    if (auto restart = going_on(table, facts)) return restart;
  }
  if (now == S::kStarting || now == S::kRestarting) {
    const std::int64_t step =
        facts.first_step_after(now == S::kStarting ? 0 : table.transitions().back().start_unix_ns);
    if (step > 0) return begins_to_train(step);
  }
  const StopFact* const stop = stop_of_attempt(table, facts);
  auto end = end_of(facts, stop);
  // A request that came when all was over changes nothing; one that was never answered and then not needed does.
  const bool was_asked =
      stop != nullptr && (!end || stop->accepted_unix_ns > 0 || stop->request.unix_ns <= end->unix_ns);
  if (was_asked && now != S::kStopping) return NextStatus{S::kStopping, stop->request.unix_ns, asked_text(*stop)};
  if (end) return end;
  const bool died = facts.state == RunState::kDied;
  if (died && now != S::kInterrupted && now != S::kStopping) {
    return NextStatus{S::kInterrupted, last_sign(facts), kDiedText};
  }
  return std::nullopt;
}

std::string exit_text(int exit_code) {
  if (exit_code <= 128 || exit_code >= 128 + NSIG) return fmt::format("exit code {}", exit_code);
  const char* const word = ::sigdescr_np(exit_code - 128);
  return fmt::format("signal {} ({})", exit_code - 128, word == nullptr ? "unknown" : word);
}

}  // namespace trainwarden::events
