#include "read/transfer/profiler_timeline.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::transfer {
namespace {

using foreign::SmdebugTimeline;

constexpr std::string_view kStepPrefix = "Step:";
constexpr std::string_view kModePrefix = "ModeKeys.";
constexpr std::size_t kMaxTracks = 1000;
constexpr double kNsInSecond = 1e9;

// Of "Step:ModeKeys.TRAIN"; none for what is no step.
std::optional<Mode> mode_of_step(std::string_view process) {
  if (!process.starts_with(kStepPrefix)) return std::nullopt;
  process.remove_prefix(kStepPrefix.size());
  if (process.starts_with(kModePrefix)) process.remove_prefix(kModePrefix.size());
  return parse_mode(process);
}

// What one stretch of the training's thread is; the events within them have their own names ("SubModule") and are none.
const char* phase_of(std::string_view process, std::string_view name) {
  if (process.starts_with("Forward") && process.find("SubModule") == std::string_view::npos) return "phase/forward";
  if (process.starts_with("Backward") && process.find("SubModule") == std::string_view::npos) return "phase/backward";
  if (process.starts_with("DataLoaderIterInitialize") || name.starts_with("DataLoaderIterInitialize")) {
    return "phase/data_start";
  }
  if (process.starts_with("DataLoaderIter")) return "phase/data_wait";
  return nullptr;
}

bool is_on_device(std::string_view process) {
  return process.starts_with("gpu_functions") || process.starts_with("/device:GPU");
}

OperatorKind kind_of(std::string_view process, std::string_view name, SmdebugTimeline timeline) {
  if (is_on_device(process)) {
    const bool copies = name.find("memcpy") != std::string_view::npos || name.find("Memcpy") != std::string_view::npos;
    return copies ? OperatorKind::kCopy : OperatorKind::kKernel;
  }
  if (timeline == SmdebugTimeline::kHorovod || timeline == SmdebugTimeline::kDataParallel) return OperatorKind::kUser;
  if (process.starts_with("cpu_functions") || process.starts_with("/host:")) return OperatorKind::kOperator;
  return timeline == SmdebugTimeline::kModel ? OperatorKind::kOperator : OperatorKind::kUser;
}

using Stretch = std::pair<std::int64_t, std::int64_t>;

// Sorted, and those that overlap as one.
void unite(std::vector<Stretch>& stretches) {
  std::sort(stretches.begin(), stretches.end());
  std::size_t kept = 0;
  for (const Stretch& next : stretches) {
    if (kept > 0 && next.first <= stretches[kept - 1].second) {
      stretches[kept - 1].second = std::max(stretches[kept - 1].second, next.second);
    } else {
      stretches[kept++] = next;
    }
  }
  stretches.resize(kept);
}

// How much of [from, to) they cover; they are united.
std::int64_t covered_ns(const std::vector<Stretch>& stretches, std::int64_t from, std::int64_t to) {
  auto next = std::partition_point(stretches.begin(), stretches.end(),
                                   [&](const Stretch& stretch) { return stretch.second <= from; });
  std::int64_t covered = 0;
  for (; next != stretches.end() && next->first < to; ++next) {
    covered += std::min(next->second, to) - std::max(next->first, from);
  }
  return covered;
}

}  // namespace

std::uint32_t NodeTimeline::name_of(const std::string& text) {
  const auto [known, added] = name_numbers_.try_emplace(text, static_cast<std::uint32_t>(names_.size()));
  if (!added) return known->second;
  if (names_.size() + 1 >= kMaxOperatorNames && text != "(other)") {
    name_numbers_.erase(known);
    return name_of("(other)");
  }
  names_.push_back(text);
  return known->second;
}

std::uint32_t NodeTimeline::track_of(const std::string& process, std::int64_t thread, const std::string& thread_name,
                                     bool device) {
  const std::string key = fmt::format("{}\n{}", process, thread);
  const auto [known, added] = track_numbers_.try_emplace(key, static_cast<std::uint32_t>(tracks_.size()));
  if (!added) return known->second;
  if (tracks_.size() + 1 >= kMaxTracks && process != "(other)") {
    track_numbers_.erase(known);
    return track_of("(other)", 0, "", false);
  }
  std::string label = process;
  if (!thread_name.empty()) label += ", " + thread_name;
  tracks_.push_back({std::move(label), static_cast<std::uint64_t>(thread), device});
  return known->second;
}

void NodeTimeline::add(const foreign::Trace& trace, SmdebugTimeline kind, std::int64_t unix_ns) {
  const std::int64_t base = trace.start_unix_us == 0 ? unix_ns : 0;
  for (const foreign::TraceEvent& event : trace.events) {
    const std::string& process = trace.processes[event.process];
    const std::string& name = trace.names[event.name];
    if (const auto mode = mode_of_step(process); mode && !event.instant) {
      TimelineStep step;
      step.mode = *mode;
      step.mode_step = event.step;
      step.start_unix_ns = base + event.start_ns;
      step.end_unix_ns = step.start_unix_ns + event.duration_ns;
      steps_.push_back(std::move(step));
      continue;
    }
    if (events_.size() >= kMaxTimelineEvents) {
      ++left_out_;
      continue;
    }
    const auto thread = trace.threads.find({event.process, event.thread});
    const bool device = is_on_device(process);
    events_.push_back({name_of(name.empty() ? process : name),
                       track_of(process, event.thread, thread == trace.threads.end() ? "" : thread->second, device),
                       base + event.start_ns, event.duration_ns, kind_of(process, name, kind),
                       phase_of(process, name)});
  }
}

std::vector<TimelineStep> NodeTimeline::steps() {
  const auto when = [](const TimelineStep& step) {
    return std::tuple(step.end_unix_ns, step.start_unix_ns, step.mode, step.mode_step);
  };
  std::sort(steps_.begin(), steps_.end(),
            [&](const TimelineStep& a, const TimelineStep& b) { return when(a) < when(b); });
  steps_.erase(std::unique(steps_.begin(), steps_.end(),
                           [&](const TimelineStep& a, const TimelineStep& b) { return when(a) == when(b); }),
               steps_.end());
  std::sort(events_.begin(), events_.end(), [](const Event& a, const Event& b) { return a.end_ns() < b.end_ns(); });
  number_steps();
  divide_steps();
  give_calls();
  return std::move(steps_);
}

// smdebug tells the steps of each mode. Where there is one mode only, and they rise, they are the global steps too;
// else all steps are counted in the order of time.
void NodeTimeline::number_steps() {
  bool are_global = true;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    are_global = are_global && steps_[i].mode_step >= 0 && steps_[i].mode == steps_[0].mode &&
                 (i == 0 || steps_[i].mode_step > steps_[i - 1].mode_step);
  }
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    steps_[i].global_step = are_global ? steps_[i].mode_step : static_cast<std::int64_t>(i);
    steps_[i].mode_step = std::max<std::int64_t>(0, steps_[i].mode_step);
  }
}

// Each train step from the end of the one before, as our own phases are. Where steps between them were not recorded,
// and in the first, a step is only as long as smdebug says.
void NodeTimeline::divide_steps() {
  std::map<std::string, std::vector<Stretch>> stretches;
  for (const Event& event : events_) {
    if (event.phase != nullptr) stretches[event.phase].emplace_back(event.start_unix_ns, event.end_ns());
  }
  for (const TimelineStep& step : steps_) {
    if (step.mode == Mode::kEval || step.mode == Mode::kPredict) {
      stretches["phase/evaluation"].emplace_back(step.start_unix_ns, step.end_unix_ns);
    }
  }
  for (auto& [phase, parts] : stretches) unite(parts);
  const TimelineStep* before = nullptr;
  for (TimelineStep& step : steps_) {
    if (step.mode != Mode::kTrain && step.mode != Mode::kGlobal) continue;
    const bool follows =
        before != nullptr && step.mode_step == before->mode_step + 1 && before->end_unix_ns <= step.start_unix_ns;
    const std::int64_t from = follows ? before->end_unix_ns : step.start_unix_ns;
    const double whole = static_cast<double>(step.end_unix_ns - from) / kNsInSecond;
    double divided = 0;
    for (const auto& [phase, parts] : stretches) {
      const double seconds = static_cast<double>(covered_ns(parts, from, step.end_unix_ns)) / kNsInSecond;
      if (seconds <= 0) continue;
      step.phases[phase] = seconds;
      divided += seconds;
    }
    // What overlaps is no division of the step.
    if (divided > whole * 1.001) step.phases.clear();
    if (divided < whole || step.phases.empty())
      step.phases["phase/rest"] = step.phases.empty() ? whole : whole - divided;
    step.phases[before == nullptr ? "phase/start" : "phase/step"] = whole;
    before = &step;
  }
}

void NodeTimeline::add_call(TimelineStep& step, const Event& event) {
  OperatorBatch& batch = step.calls;
  if (batch.calls.size() >= kMaxOperatorCalls) {
    ++batch.lost_calls;
    return;
  }
  batch.calls.push_back({event.name, event.track, event.kind, event.start_unix_ns, event.duration_ns, -1});
}

void NodeTimeline::give_calls() {
  if (steps_.empty() && !events_.empty()) {
    TimelineStep& only = steps_.emplace_back();
    only.start_unix_ns = events_.front().start_unix_ns;
    only.end_unix_ns = events_.back().end_ns();
  }
  std::size_t at = 0;
  for (const Event& event : events_) {
    while (at + 1 < steps_.size() && steps_[at].end_unix_ns < event.end_ns()) ++at;
    add_call(steps_[at], event);
  }
  events_.clear();
  for (TimelineStep& step : steps_) {
    OperatorBatch& batch = step.calls;
    batch.global_step = step.global_step;
    batch.mode = step.mode;
    if (batch.calls.empty()) continue;
    std::unordered_map<std::uint32_t, std::uint32_t> names, tracks;  // numbers in the batch
    for (OperatorCall& call : batch.calls) {
      const auto [name, new_name] = names.try_emplace(call.name, static_cast<std::uint32_t>(names.size()));
      if (new_name) batch.names.push_back(names_[call.name]);
      const auto [track, new_track] = tracks.try_emplace(call.track, static_cast<std::uint32_t>(tracks.size()));
      if (new_track) batch.tracks.push_back(tracks_[call.track]);
      call.name = name->second;
      call.track = track->second;
    }
    std::sort(batch.calls.begin(), batch.calls.end(), [](const OperatorCall& a, const OperatorCall& b) {
      return std::tuple(a.track, a.start_unix_ns, -a.duration_ns) <
             std::tuple(b.track, b.start_unix_ns, -b.duration_ns);
    });
  }
}

}  // namespace trainwarden::transfer
