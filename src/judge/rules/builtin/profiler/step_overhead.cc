#include "judge/rules/builtin/profiler/step_overhead.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "judge/rules/builtin/profiler/recorded_calls.h"
#include "read/profile/call_nesting.h"

namespace trainwarden::rules {
namespace {

constexpr std::size_t kMostOverheadSteps = 8;
constexpr std::size_t kMostOverheadCalls = 500'000;  // in a step; one with more has no small batch
constexpr double kLongestTypicalCall = 5e-6;         // seconds: the median call is no longer, or it computes
// Seconds of a call that do not grow with the batch: ./dev batch-gains compares batches of models of ten kinds,
// and this is where most of its predictions hold.
constexpr double kFixedCall = 20e-6;
constexpr double kSecondsANs = 1e-9;

// What runs on the thread that trains, outside the optimizer.
struct OverheadCalls {
  std::vector<double> own;  // seconds, of each call
  double covered = 0;       // seconds in which any ran
};

// The track of the host on which operators ran longest.
std::optional<std::uint32_t> training_track(const OperatorBatch& batch) {
  std::map<std::uint32_t, std::int64_t> covered, until;
  for (const OperatorCall& call : batch.calls) {
    if (call.kind != OperatorKind::kOperator && call.kind != OperatorKind::kBackward) continue;
    if (call.track >= batch.tracks.size() || batch.tracks[call.track].device) continue;
    std::int64_t& end = until[call.track];
    covered[call.track] += std::max<std::int64_t>(0, profile::end_ns(call) - std::max(end, call.start_unix_ns));
    end = std::max(end, profile::end_ns(call));
  }
  const auto longest = std::max_element(covered.begin(), covered.end(),
                                        [](const auto& a, const auto& b) { return a.second < b.second; });
  if (longest == covered.end()) return std::nullopt;
  return longest->first;
}

OverheadCalls overhead_calls(const OperatorBatch& batch, std::uint32_t track) {
  const std::vector<profile::CallPlace> places = profile::nest_calls(batch);
  OverheadCalls times;
  std::int64_t optimizer_until = 0, covered_until = 0, covered_ns = 0;
  for (const std::size_t i : profile::calls_in_order(batch)) {
    const OperatorCall& call = batch.calls[i];
    if (call.track != track) continue;
    if (call.kind == OperatorKind::kUser && batch.names.at(call.name).starts_with(kOptimizerScopePrefix)) {
      optimizer_until = std::max(optimizer_until, profile::end_ns(call));
    }
    const bool counts = call.kind == OperatorKind::kOperator || call.kind == OperatorKind::kBackward;
    if (!counts || call.start_unix_ns < optimizer_until) continue;
    times.own.push_back(static_cast<double>(places[i].self_ns) * kSecondsANs);
    covered_ns += std::max<std::int64_t>(0, profile::end_ns(call) - std::max(covered_until, call.start_unix_ns));
    covered_until = std::max(covered_until, profile::end_ns(call));
  }
  times.covered = static_cast<double>(covered_ns) * kSecondsANs;
  return times;
}

// Phases of one step in seconds; what did not occur is 0.
class StepPhaseReader {
 public:
  StepPhaseReader(Trial& trial, const std::string& worker, std::int64_t step)
      : trial_(trial), worker_(worker), step_(step) {}
  std::optional<double> read(const char* phase) const {
    const auto seconds = trial_.scalar(std::string("phase/") + phase, step_, Mode::kGlobal, worker_);
    if (!seconds.ok() || !std::isfinite(*seconds) || *seconds < 0) return std::nullopt;
    return *seconds;
  }
  double sum(std::initializer_list<const char*> phases) const {
    double sum = 0;
    for (const char* const phase : phases) sum += read(phase).value_or(0);
    return sum;
  }

 private:
  Trial& trial_;
  const std::string& worker_;
  const std::int64_t step_;
};

double median_call_seconds(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double sum_up_to(const std::vector<double>& values, double most) {
  double sum = 0;
  for (const double value : values) sum += std::min(value, most);
  return sum;
}

void add_overhead(StepOverhead& sums, const StepPhaseReader& phases, double step, const OverheadCalls& times) {
  const double optimizer = phases.sum({"optimizer", "zero_grad", "clip"});
  const double wall = step - phases.sum({"data_wait", "data_start", "evaluation", "checkpoint", "capture"});
  const double between = std::max(0.0, wall - optimizer - times.covered);
  const double call = std::min(median_call_seconds(times.own), kLongestTypicalCall);
  sums.steps += 1;
  sums.wall += wall;
  sums.fixed_low += std::min(wall, optimizer + between + sum_up_to(times.own, call));
  sums.fixed += std::min(wall, optimizer + between + sum_up_to(times.own, kFixedCall));
  sums.fixed_high += std::min(wall, optimizer + between + sum_up_to(times.own, 2 * kFixedCall));
  sums.calls += static_cast<double>(times.own.size());
  sums.call += call;
  sums.between += between;
}

}  // namespace

Result<std::optional<StepOverhead>> step_overhead(Trial& trial, const std::string& worker) {
  StepOverhead sums;
  for (const std::int64_t step : trial.operator_steps(worker)) {
    if (sums.steps >= kMostOverheadSteps) break;
    const StepPhaseReader phases(trial, worker, step);
    const auto wall = phases.read("step");
    if (!wall || *wall <= 0) continue;
    const auto batch = trial.operators(worker, step);
    if (batch.status().code() == Code::kDataLoss) continue;
    if (!batch.ok()) return batch.status();
    if (batch->calls.empty() || batch->calls.size() > kMostOverheadCalls || batch->lost_calls > 0) continue;
    const auto track = training_track(*batch);
    if (!track) continue;
    const OverheadCalls times = overhead_calls(*batch, *track);
    if (!times.own.empty()) add_overhead(sums, phases, *wall, times);
  }
  if (sums.steps == 0) return std::optional<StepOverhead>();
  const auto count = static_cast<double>(sums.steps);
  for (double* const sum :
       {&sums.wall, &sums.fixed, &sums.fixed_low, &sums.fixed_high, &sums.calls, &sums.call, &sums.between}) {
    *sum /= count;
  }
  return std::optional(sums);
}

}  // namespace trainwarden::rules
