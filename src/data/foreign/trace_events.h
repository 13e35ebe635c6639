// Trace events: Chrome's JSON of what ran when, as smdebug, TensorFlow and Horovod write it. What a process that died
// left of it is read too: the end may be missing, and what is damaged costs an event.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trainwarden::foreign {

// Numbers are indices into the tables of its trace.
struct TraceEvent {
  std::uint32_t name = 0;
  std::uint32_t process = 0;  // in smdebug's files not a process but a phase: "Step:ModeKeys.TRAIN"
  std::int64_t thread = 0;    // its number
  std::int64_t start_ns = 0;  // since 1970 when the trace says when it began (Trace::start_unix_us), else since then
  std::int64_t duration_ns = 0;
  std::int64_t step = -1;  // that it says that it belongs to
  bool instant = false;
};

struct Trace {
  std::int64_t start_unix_us = 0;  // 0: it does not say
  std::vector<std::string> names;  // of events
  std::vector<std::string> processes;
  std::map<std::pair<std::uint32_t, std::int64_t>, std::string> threads;  // names, by process and thread
  std::vector<TraceEvent> events;                                         // as they lie in the file
  std::uint64_t damaged = 0;                                              // objects that cannot be read
  std::uint64_t unpaired = 0;  // beginnings without an end, and ends without a beginning
  std::uint64_t left_out = 0;  // beyond `most_events`
};

// An array of events, or an object with one under "traceEvents". Complete events, pairs of beginning and end, instants
// and the names of processes and threads are read; other kinds are none of ours.
Trace read_trace(std::string_view json, std::size_t most_events);

}  // namespace trainwarden::foreign
