// JobExit: how the program of a job has ended, as whoever started it saw it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::jobs {

struct JobExit {
  std::optional<std::int64_t> rank;  // of several processes the one that failed first, whose end this is
  std::optional<int> code;           // nothing: a signal ended it, or nobody knows
  std::optional<int> signal;         // that ended it
  std::int64_t wall_ns = 0;
  bool stopped_by_rule = false;
  bool killed = false;                             // it did not end by itself when it was to stop
  bool preempted = false;                          // it was to make room, and not because anybody wanted it stopped
  bool out_of_memory = false;                      // processes of it were killed because memory was used up
  std::optional<std::uint64_t> peak_memory_bytes;  // of all processes together in a control group of its own, else of
                                                   // the largest; nothing: not known
  std::optional<std::int64_t> cpu_ns;              // of all its processes, or of those that were waited for
  std::string failure;                             // what the program itself says of why it failed
  friend bool operator==(const JobExit&, const JobExit&) = default;
};

// EX_TEMPFAIL of sysexits.h: the program asks to be started again.
inline constexpr int kStartAgainCode = 75;
// It fails for no fault of its own: it says so, or one of its ranks was killed, and not for want of memory.
bool asks_for_another_attempt(const JobExit& exit);

std::string how_it_ended(
    const JobExit& exit);  // "the program has ended with exit code 3", "rank 2 was ended by signal 9"

std::string encode_exit(const JobExit& exit);  // one line of JSON
// kDataLoss when it is none; `what` names the text in the message.
Result<JobExit> decode_exit(std::string_view text, std::string_view what);

}  // namespace trainwarden::jobs
