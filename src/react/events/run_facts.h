// RunFacts: what is known of a run's training, and the status that follows from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "data/format/control_record.h"
#include "react/events/recorder.h"
#include "react/events/run_status.h"
#include "trainwarden/trial.h"

namespace trainwarden::events {

// A request to stop, and whether the training has said that it will.
struct StopFact {
  format::StopRequest request;
  std::int64_t accepted_unix_ns = 0;  // 0: it has not
};

struct RunFacts {
  std::int64_t created_unix_ns = 0;
  std::int64_t now_unix_ns = 0;
  std::string_view host;
  RunState state = RunState::kRunning;
  bool writing = false;               // a living process writes, and has not said that it is done
  std::int64_t end_unix_ns = 0;       // of the newest run_end, 0: none
  std::int64_t last_unix_ns = 0;      // of the newest thing that the workers wrote, 0: nothing
  std::span<const StopFact> stops{};  // all that were ever asked for
  bool program_end_awaited = false;
  std::optional<ProgramEnd> program_end{};
  // When the first step ended that ended at this time or later; 0: none has.
  std::function<std::int64_t(std::int64_t unix_ns)> first_step_after;
};

// The request that the present attempt was stopped by, or is to be: the earliest that was accepted since the attempt
// began, else the earliest that is open. None: nobody asks.
const StopFact* stop_of_attempt(const RunTable& table, const RunFacts& facts);

struct NextStatus {
  SecondaryStatus status = SecondaryStatus::kStarting;
  std::int64_t unix_ns = 0;
  std::string message;
};

// The status that follows, one at a time; none when the table is up to date. The same facts give the same table,
// whoever asks and however often it was asked before.
std::optional<NextStatus> next_status(const RunTable& table, const RunFacts& facts);

// "exit code 1", "signal 9 (Killed)"
std::string exit_text(int exit_code);

}  // namespace trainwarden::events
