#include "ui/views/profile/read_profile.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "read/profile/rates.h"
#include "read/profile/system_usage.h"
#include "read/trial/trial_access.h"
#include "ui/views/capture_bill.h"
#include "ui/views/profile/profile_memory.h"
#include "ui/views/profile/step_summary.h"

namespace trainwarden::views {
namespace {

constexpr std::size_t kMostWindowNeighbours = 50;
constexpr std::size_t kMemoryPoints = 600;

ProfiledRun about_run(const OpenRun::Use& run, const ProfileSpan& span) {
  const journal::RunInfo& info = TrialAccess::run_info(run.trial());
  return {run.run().name(),  run.trial().state(), info.host, info.command, run.trial().created_unix_ns(),
          span.from_unix_ns, span.to_unix_ns};
}

UsageRow row_of(const UsageLine& line, const ValueSpread& values) {
  return {std::string(line.kind->name),
          std::string(line.kind->label),
          std::string(line.kind->unit),
          line.instance,
          line.part,
          values};
}

void add_usage(const ProfileMemory& memory, ProfileReport& report) {
  for (const UsageLine* const line : memory.usage()) {
    if (const auto values = line->digest.distribution()) report.usage.push_back(row_of(*line, *values));
  }
}

SystemLine line_of(const profile::UsageKind& kind, const std::string& instance, const std::string& part,
                   std::vector<double> values) {
  return {std::string(kind.name), std::string(kind.label), std::string(kind.unit), instance, part, std::move(values)};
}

bool has_any(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double value) { return std::isfinite(value); });
}

void add_remembered_lines(const ProfileMemory& memory, ProfileTimeline& timeline) {
  for (const UsageLine* const line : memory.usage()) {
    auto values = line->buckets.means(timeline.from_unix_ns, timeline.to_unix_ns, timeline.buckets);
    if (!has_any(values)) continue;
    if (timeline.system.size() == kMostSystemLines) {
      ++timeline.left_out_lines;
      continue;
    }
    timeline.system.push_back(line_of(*line->kind, line->instance, line->part, std::move(values)));
  }
}

// From the samples themselves.
Status add_read_lines(Trial& trial, ProfileTimeline& timeline) {
  // Counters are rates since the sample before.
  constexpr std::int64_t kBeforeNs = 2'000'000'000;
  TRAINWARDEN_ASSIGN_OR_RETURN(
      auto usage, profile::system_usage(
                      trial, {.from_unix_ns = timeline.from_unix_ns - kBeforeNs, .to_unix_ns = timeline.to_unix_ns}));
  (void)profile::merge_machines(usage);
  const double length = static_cast<double>(timeline.to_unix_ns - timeline.from_unix_ns);
  for (const profile::UsageSeries& series : usage) {
    std::vector<double> values(timeline.buckets, std::numeric_limits<double>::quiet_NaN());
    for (const Sample& mean :
         profile::means_of(series.samples, timeline.from_unix_ns, timeline.to_unix_ns, timeline.buckets)) {
      const double place = static_cast<double>(mean.unix_ns - timeline.from_unix_ns) / length;
      const auto bucket = static_cast<std::size_t>(place * static_cast<double>(timeline.buckets));
      if (bucket < values.size()) values[bucket] = mean.value;
    }
    if (!has_any(values)) continue;
    if (timeline.system.size() == kMostSystemLines) {
      ++timeline.left_out_lines;
      continue;
    }
    timeline.system.push_back(line_of(*series.kind, series.instance, series.part, std::move(values)));
  }
  return {};
}

void add_phase_lines(const ProfileMemory& memory, ProfileTimeline& timeline) {
  for (const PhaseTimes& times : memory.phases()) {
    auto values = times.buckets.means(timeline.from_unix_ns, timeline.to_unix_ns, timeline.buckets);
    if (!has_any(values)) continue;
    if (timeline.phases.size() == kMostPhaseLines) {
      ++timeline.left_out_lines;
      continue;
    }
    timeline.phases.push_back({times.worker, times.phase, std::move(values)});
  }
}

bool is_remembered(const ProfileMemory& memory, const ProfileTimeline& timeline) {
  const std::int64_t wanted_ns =
      (timeline.to_unix_ns - timeline.from_unix_ns) / static_cast<std::int64_t>(timeline.buckets);
  const auto lines = memory.usage();
  return std::all_of(lines.begin(), lines.end(),
                     [&](const UsageLine* line) { return line->buckets.length_ns() <= wanted_ns; });
}

Result<ProfileTimeline> timeline_of(Trial& trial, const ProfileMemory& memory, const TimelineQuestion& question) {
  ProfileTimeline timeline;
  timeline.from_unix_ns = question.from_unix_ns > 0 ? question.from_unix_ns : memory.span().from_unix_ns;
  timeline.to_unix_ns = question.to_unix_ns > 0 ? question.to_unix_ns : memory.span().to_unix_ns;
  timeline.buckets = std::clamp<std::size_t>(question.buckets, 1, kMostTimelineBuckets);
  timeline.to_unix_ns =
      std::max(timeline.to_unix_ns, timeline.from_unix_ns + static_cast<std::int64_t>(timeline.buckets));
  timeline.left_out_lines = memory.left_out_lines();
  const bool is_zoomed = question.from_unix_ns > 0 || question.to_unix_ns > 0;
  if (is_zoomed && !is_remembered(memory, timeline)) {
    TRAINWARDEN_RETURN_IF_ERROR(add_read_lines(trial, timeline));
  } else {
    add_remembered_lines(memory, timeline);
  }
  add_phase_lines(memory, timeline);
  return timeline;
}

// "GPU-3" is 3; another name, the first.
std::int32_t device_in(const std::string& instance) {
  const std::size_t digits = instance.find_last_not_of("0123456789") + 1;
  if (digits >= instance.size() || instance.size() - digits > 4) return 0;
  return std::stoi(instance.substr(digits));
}

// The step that was under way.
std::int64_t step_at(const profile::StepFollower& steps, std::int64_t unix_ns) {
  for (const profile::StepFollower::Worker& worker : steps.workers()) {
    const auto found =
        std::lower_bound(worker.steps.begin(), worker.steps.end(), unix_ns,
                         [](const profile::StepTime& time, std::int64_t wanted) { return time.end_unix_ns < wanted; });
    if (found != worker.steps.end()) return found->global_step;
  }
  return -1;
}

ProfiledMemory memory_of(const ProfileMemory& memory, const UsageLine& line, std::int32_t device) {
  ProfiledMemory one;
  one.worker = line.worker;
  one.device = device;
  if (const auto values = line.digest.distribution()) one.peak_bytes = values->max;
  one.at_end_bytes = line.digest.last();
  const ProfileSpan& span = memory.span();
  const auto means = line.buckets.means(span.from_unix_ns, span.to_unix_ns, kMemoryPoints);
  const double length = static_cast<double>(span.to_unix_ns - span.from_unix_ns) / static_cast<double>(kMemoryPoints);
  double most = 0;
  for (std::size_t i = 0; i < means.size(); ++i) {
    if (!std::isfinite(means[i])) continue;
    const auto at = span.from_unix_ns + static_cast<std::int64_t>(length * (static_cast<double>(i) + 0.5));
    one.points.push_back({at, means[i]});
    if (means[i] <= most) continue;
    most = means[i];
    one.peak_step = step_at(memory.steps(), at);
  }
  return one;
}

void add_memory(ProfileMemory& memory, ProfileReport& report) {
  for (const UsageLine* const line : memory.usage()) {
    if (line->kind->name == "training_memory") report.memory.push_back(memory_of(memory, *line, -1));
    if (line->kind->name == "gpu_memory_used") {
      report.memory.push_back(memory_of(memory, *line, device_in(line->instance)));
    }
  }
  for (ProfiledMemory& of_operators : memory.operators().memory()) report.memory.push_back(std::move(of_operators));
}

// How long the steps of a window took, over as many before and behind it: medians. None without neighbours.
std::optional<double> window_slowdown(const ProfileMemory& memory,
                                      const std::map<std::string, std::set<std::int64_t>>& windows) {
  std::vector<double> within, beside;
  for (const profile::StepFollower::Worker& worker : memory.steps().workers()) {
    const auto recorded = windows.find(worker.name);
    if (recorded == windows.end() || recorded->second.empty()) continue;
    const auto is_recorded = [&](const profile::StepTime& time) { return recorded->second.contains(time.global_step); };
    for (std::size_t i = 0; i < worker.steps.size(); ++i) {
      const auto seconds = static_cast<double>(worker.steps[i].seconds);
      if (is_recorded(worker.steps[i])) {
        within.push_back(seconds);
        continue;
      }
      const std::int64_t step = worker.steps[i].global_step;
      const auto next = recorded->second.lower_bound(step);
      const bool is_before = next != recorded->second.end() && *next - step <= std::int64_t{kMostWindowNeighbours};
      const bool is_behind = next != recorded->second.begin() &&
                             step - *std::prev(next) <= static_cast<std::int64_t>(kMostWindowNeighbours);
      if (is_before || is_behind) beside.push_back(seconds);
    }
  }
  if (within.size() < 3 || beside.size() < 3) return std::nullopt;
  const double usual = median_of(std::move(beside));
  return usual > 0 ? std::optional(median_of(std::move(within)) / usual) : std::nullopt;
}

ProfileCost cost_of_profiling(Trial& trial, ProfileMemory& memory) {
  ProfileCost cost;
  for (const WorkerBill& bill : read_bills(trial)) {
    cost.capture_share = std::max(cost.capture_share.value_or(0), bill.share());
    if (bill.newest().budget > 0) cost.capture_budget = bill.newest().budget;
  }
  for (const UsageLine* const line : memory.usage()) {
    if (line->kind->name != "sampler") continue;
    if (const auto values = line->digest.distribution()) cost.sampler_core_share = values->mean / 100;
  }
  for (const auto& [worker, steps] : memory.operators().steps()) {
    cost.window_steps = std::max(cost.window_steps, steps.size());
  }
  cost.window_slowdown = window_slowdown(memory, memory.operators().steps());
  return cost;
}

}  // namespace

Result<ProfileReport> read_profile(const OpenRun::Use& run, const ProfileQuestion& question) {
  Trial& trial = run.trial();
  ProfileMemory& memory = run.memory<ProfileMemory>();
  ProfileJudge& judge = memory.judge(trial);
  TRAINWARDEN_RETURN_IF_ERROR(judge.judge(question.patience, question.judge_at_most_every));
  TRAINWARDEN_RETURN_IF_ERROR(memory.refresh(trial));
  TRAINWARDEN_RETURN_IF_ERROR(memory.operators().refresh(trial, question.patience));
  ProfileReport report;
  report.run = about_run(run, memory.span());
  report.rules = judge.rules();
  report.verdict = verdict_of(report.rules, judge.is_behind());
  report.steps = summarise_steps(trial, memory.steps());
  report.workers = summarise_workers(memory.steps(), report.run.host);
  TRAINWARDEN_ASSIGN_OR_RETURN(report.timeline, timeline_of(trial, memory, {.buckets = question.buckets}));
  add_usage(memory, report);
  report.operators = memory.operators().operators();
  report.stacks = memory.operators().stacks();
  add_memory(memory, report);
  report.cost = cost_of_profiling(trial, memory);
  return report;
}

Result<ProfileTimeline> read_profile_timeline(const OpenRun::Use& run, const TimelineQuestion& question) {
  ProfileMemory& memory = run.memory<ProfileMemory>();
  TRAINWARDEN_RETURN_IF_ERROR(memory.refresh(run.trial()));
  return timeline_of(run.trial(), memory, question);
}

}  // namespace trainwarden::views
