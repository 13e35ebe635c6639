// Profiler timeline: what the timelines of one node say, as steps with phases and the calls that ran in them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/foreign/smdebug_profile_layout.h"
#include "data/foreign/trace_events.h"
#include "trainwarden/mode.h"
#include "trainwarden/operator_calls.h"

namespace trainwarden::transfer {

inline constexpr std::size_t kMaxTimelineEvents = std::size_t{1} << 22;  // of one node

// One step of one node. A time of a phase that did not occur is not there.
struct TimelineStep {
  std::int64_t global_step = 0;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = 0;
  std::int64_t start_unix_ns = 0;
  std::int64_t end_unix_ns = 0;
  std::map<std::string, double> phases;  // "phase/forward", in seconds; of train steps
  OperatorBatch calls;                   // that ended since the step before
};

// One thread at a time.
class NodeTimeline {
 public:
  // `unix_ns` is the time that the trace's own are relative to, when it does not say one itself.
  void add(const foreign::Trace& trace, foreign::SmdebugTimeline kind, std::int64_t unix_ns = 0);
  std::size_t event_count() const { return events_.size(); }
  std::uint64_t left_out() const { return left_out_; }

  // By time. Calls that belong to no step are with the next step that ends; those after the last step are with that.
  // Where there is no step at all, all of them are one, of no mode.
  std::vector<TimelineStep> steps();

 private:
  struct Event {
    std::uint32_t name = 0;
    std::uint32_t track = 0;
    std::int64_t start_unix_ns = 0;
    std::int64_t duration_ns = 0;
    OperatorKind kind = OperatorKind::kUser;
    const char* phase = nullptr;  // of ours that it is; none: no phase
    std::int64_t end_ns() const { return start_unix_ns + duration_ns; }
  };
  std::uint32_t name_of(const std::string& text);
  std::uint32_t track_of(const std::string& process, std::int64_t thread, const std::string& thread_name, bool device);
  void number_steps();
  void divide_steps();
  void give_calls();
  void add_call(TimelineStep& step, const Event& event);

  std::vector<std::string> names_;
  std::unordered_map<std::string, std::uint32_t> name_numbers_;
  std::vector<OperatorTrack> tracks_;
  std::unordered_map<std::string, std::uint32_t> track_numbers_;
  std::vector<Event> events_;
  std::vector<TimelineStep> steps_;
  std::uint64_t left_out_ = 0;
};

}  // namespace trainwarden::transfer
