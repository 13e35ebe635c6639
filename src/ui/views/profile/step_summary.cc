#include "ui/views/profile/step_summary.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "read/profile/rates.h"

namespace trainwarden::views {
namespace {

using profile::StepFollower;
using profile::StepTime;

constexpr double kMsInSecond = 1e3;
constexpr std::size_t kBins = 40;
constexpr std::size_t kFewestForOutliers = 20;
// Source: the usual robust score, 0.6745 · deviation / MAD, above 3.5 (Iglewicz and Hoaglin 1993); ours: and by a half.
constexpr double kScoreOfMad = 3.5 / 0.6745;
constexpr double kLeastExcess = 1.5;

double ms_of(const StepTime& time) {
  return kMsInSecond * static_cast<double>(time.seconds);
}

std::vector<double> sorted_ms(const StepFollower::Worker& worker) {
  std::vector<double> all;
  all.reserve(worker.steps.size());
  for (const StepTime& time : worker.steps) all.push_back(ms_of(time));
  std::sort(all.begin(), all.end());
  return all;
}

ValueSpread distribution_of(const std::vector<double>& sorted) {
  double sum = 0;
  for (const double value : sorted) sum += value;
  const auto at = [&](double share) { return profile::quantile_of_sorted(sorted, share); };
  return {sorted.front(), at(0.5), at(0.95), at(0.99), sorted.back(), sum / static_cast<double>(sorted.size())};
}

// Bins of the same width up to where nearly all lie; the last one goes on to the longest.
ProfiledHistogram histogram_of(const std::vector<double>& sorted) {
  ProfiledHistogram histogram;
  const double low = sorted.front(), p99 = profile::quantile_of_sorted(sorted, 0.99);
  const double median = profile::quantile_of_sorted(sorted, 0.5);
  double high = std::min(sorted.back(), std::max(p99, 2 * median));
  if (!(high > low)) high = low + std::max(1e-6, low * 1e-3);
  for (std::size_t i = 0; i <= kBins; ++i) {
    histogram.edges_ms.push_back(low + (high - low) * static_cast<double>(i) / kBins);
  }
  histogram.counts.assign(kBins, 0);
  for (const double value : sorted) {
    const auto bin = static_cast<std::size_t>(std::max(0.0, (value - low) / (high - low) * kBins));
    ++histogram.counts[std::min(bin, kBins - 1)];
  }
  histogram.edges_ms.back() = std::max(high, sorted.back());
  return histogram;
}

double deviation_of(const std::vector<double>& sorted, double median) {
  std::vector<double> deviations;
  deviations.reserve(sorted.size());
  for (const double value : sorted) deviations.push_back(std::fabs(value - median));
  return median_of(std::move(deviations));
}

// What each phase takes in a usual step: the mean over the divided ones, which is little above the median.
double usual_ms(const StepFollower::Worker& worker, const std::string& phase) {
  const auto known = worker.phase_seconds.find(phase);
  if (known == worker.phase_seconds.end() || worker.divided_steps == 0) return 0;
  return kMsInSecond * known->second / static_cast<double>(worker.divided_steps);
}

// The phase that grew most, from the step itself.
void explain(Trial& trial, const StepFollower::Worker& worker, OutlyingStep& outlier) {
  double most = 0;
  for (const auto& [phase, seconds] : worker.phase_seconds) {
    const auto of_step = trial.scalar("phase/" + phase, outlier.step, Mode::kGlobal, worker.name);
    if (!of_step.ok() || !std::isfinite(*of_step)) continue;
    const double ms = kMsInSecond * *of_step, more = ms - usual_ms(worker, phase);
    if (more <= most) continue;
    most = more;
    outlier.phase = phase;
    outlier.phase_ms = ms;
  }
  outlier.cause = cause_of_phase(outlier.phase);
}

void keep_longest(std::vector<OutlyingStep>& outliers) {
  std::stable_sort(outliers.begin(), outliers.end(),
                   [](const OutlyingStep& a, const OutlyingStep& b) { return a.ms > b.ms; });
  if (outliers.size() > kMostOutliers) outliers.resize(kMostOutliers);
}

void add_outliers(Trial& trial, const StepFollower& follower, ProfiledSteps& steps) {
  for (const StepFollower::Worker& worker : follower.workers()) {
    if (worker.steps.size() < kFewestForOutliers) continue;
    const std::vector<double> sorted = sorted_ms(worker);
    const double median = profile::quantile_of_sorted(sorted, 0.5);
    const double limit = std::max(kLeastExcess * median, median + kScoreOfMad * deviation_of(sorted, median));
    for (const StepTime& time : worker.steps) {
      if (ms_of(time) <= limit) continue;
      ++steps.outlier_count;
      steps.outliers.push_back({time.global_step, worker.name, time.end_unix_ns, ms_of(time), median, "", 0, ""});
      if (steps.outliers.size() >= 64 * kMostOutliers) keep_longest(steps.outliers);
    }
    keep_longest(steps.outliers);
  }
  for (OutlyingStep& outlier : steps.outliers) {
    for (const StepFollower::Worker& worker : follower.workers()) {
      if (worker.name == outlier.worker) explain(trial, worker, outlier);
    }
  }
}

double total_in(const StepFollower::Worker& worker, const char* name) {
  const auto found = worker.totals.find(name);
  return found == worker.totals.end() ? 0 : found->second;
}

double wall_of(const StepFollower::Worker& worker) {
  const double known = total_in(worker, "wall");
  if (known > 0) return known;
  double sum = 0;
  for (const StepTime& time : worker.steps) sum += static_cast<double>(time.seconds);
  return sum * static_cast<double>(worker.every);
}

double steps_of(const StepFollower::Worker& worker) {
  const double known = total_in(worker, "steps");
  return known > 0 ? known : static_cast<double>(worker.steps.size() * worker.every);
}

// A step of a mode that has no phases is a part of the train step behind it.
void add_modes(const Trial& trial, const StepFollower::Worker& first, ProfiledSteps& steps) {
  const double evaluation = total_in(first, "evaluation");
  for (const Mode mode : trial.modes()) {
    ModeTime time{mode, trial.steps(mode).size(), std::numeric_limits<double>::quiet_NaN()};
    if (mode == Mode::kTrain) {
      time.count = steps.count;
      time.seconds = std::max(0.0, steps.wall_seconds - evaluation);
    } else if (mode == Mode::kEval && evaluation > 0) {
      time.seconds = evaluation;
    }
    steps.modes.push_back(time);
  }
}

}  // namespace

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  return profile::quantile_of_sorted(values, 0.5);
}

std::string cause_of_phase(std::string_view phase) {
  if (phase == "checkpoint" || phase == "evaluation" || phase == "capture") return std::string(phase);
  return phase == "data_wait" || phase == "data_start" ? "data wait" : "";
}

ProfiledSteps summarise_steps(Trial& trial, const StepFollower& follower) {
  ProfiledSteps steps;
  std::vector<double> all;
  for (const StepFollower::Worker& worker : follower.workers()) {
    for (const StepTime& time : worker.steps) all.push_back(ms_of(time));
  }
  std::sort(all.begin(), all.end());
  if (!all.empty()) {
    steps.duration_ms = distribution_of(all);
    steps.histogram = histogram_of(all);
  }
  if (follower.workers().empty()) return steps;
  const StepFollower::Worker& first = follower.workers().front();
  steps.count = static_cast<std::size_t>(std::min(1e15, steps_of(first)));
  steps.divided = first.divided_steps;
  steps.wall_seconds = wall_of(first);
  if (first.start_seconds >= 0) steps.start_seconds = first.start_seconds;
  add_modes(trial, first, steps);
  add_outliers(trial, follower, steps);
  return steps;
}

std::vector<ProfiledWorker> summarise_workers(const StepFollower& follower, const std::string& host) {
  std::vector<ProfiledWorker> rows;
  std::vector<double> own_medians;
  const std::vector<profile::WorkerPhases> phases = follower.phases();
  for (const StepFollower::Worker& worker : follower.workers()) {
    if (worker.steps.empty() || rows.size() == kMostProfiledWorkers) continue;
    ProfiledWorker row{worker.name, host, steps_of(worker), wall_of(worker), median_of(sorted_ms(worker)), 1, {}};
    std::vector<double> own;
    for (const StepTime& time : worker.steps) own.push_back(kMsInSecond * static_cast<double>(time.own_seconds));
    row.skew = median_of(std::move(own));
    own_medians.push_back(row.skew);
    for (const profile::WorkerPhases& divided : phases) {
      if (divided.worker != worker.name) continue;
      for (const profile::PhaseTime& time : divided.phases) {
        const double ms = kMsInSecond * time.share * row.wall_seconds / std::max(1.0, row.steps);
        row.phases.push_back({time.phase, time.share, ms, time.exact});
      }
    }
    rows.push_back(std::move(row));
  }
  const double usual = median_of(std::move(own_medians));
  for (ProfiledWorker& row : rows) row.skew = usual > 0 ? row.skew / usual : 1;
  return rows;
}

}  // namespace trainwarden::views
