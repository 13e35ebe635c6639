#include "judge/rules/builtin/profiler/phase_shares.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace {

constexpr std::string_view kPhasePrefix = "phase/", kTotalPrefix = "phase_total/", kCountPrefix = "phase_count/";
constexpr std::string_view kPhaseNames[kPhaseCount] = {
    "data_wait",     "data_start", "evaluation", "checkpoint", "forward", "loss", "backward",
    "gradient_sync", "clip",       "optimizer",  "zero_grad",  "capture", "rest"};
constexpr double kUncertain = 1.0 / 3;  // around a mean of which nothing else is known
constexpr std::size_t kQuarters = 4;

std::optional<std::size_t> index_of_phase(std::string_view phase, std::size_t count) {
  const auto* const end = std::begin(kPhaseNames) + count;
  const auto* const found = std::find(std::begin(kPhaseNames), end, phase);
  if (found == end) return std::nullopt;
  return static_cast<std::size_t>(found - std::begin(kPhaseNames));
}

void take_phase(TimedStep& step, std::string_view phase, double seconds) {
  if (phase == "start") {
    step.start_seconds = seconds;
    return;
  }
  if (!step.divided) step.divided.emplace();
  if (phase == "step") step.divided->wall = seconds;
  if (const auto index = index_of_phase(phase, kPhaseCount)) step.divided->seconds[*index] = seconds;
}

void take_total(TimedStep& step, std::string_view phase, double value) {
  if (phase == "wall") step.total_wall = value;
  if (phase == "steps") step.total_steps = value;
  if (const auto index = index_of_phase(phase, kTotalledPhases)) step.totals[*index] = value;
}

void take_count(TimedStep& step, std::string_view phase, double times) {
  if (const auto index = index_of_phase(phase, kTotalledPhases)) step.times[*index] = times;
}

bool has_phases(const Trial& trial) {
  return trial.has_tensor("phase/step") || trial.has_tensor("phase/start") || trial.has_tensor("phase_total/wall");
}

}  // namespace

std::string_view name(Phase phase) {
  return kPhaseNames[static_cast<std::size_t>(phase)];
}

std::map<std::string, TimedStep> read_phases(const StepWindow& window) {
  std::map<std::string, TimedStep> workers;
  // Many rules ask, at each step: a run without phases is not searched.
  if (window.trial() != nullptr && !has_phases(*window.trial())) return workers;
  (void)visit_tensors({.patterns = {"^phase(_total|_count)?/"}}, window, [&](const TensorSpot& spot) -> Status {
    const std::string_view name = spot.tensor;
    TRAINWARDEN_ASSIGN_OR_RETURN(const double value, window.scalar(spot));
    if (!std::isfinite(value) || value < 0) return {};
    TimedStep& step = workers[spot.worker];
    if (name.substr(0, kPhasePrefix.size()) == kPhasePrefix) {
      take_phase(step, name.substr(kPhasePrefix.size()), value);
    } else if (name.substr(0, kCountPrefix.size()) == kCountPrefix) {
      take_count(step, name.substr(kCountPrefix.size()), value);
    } else {
      take_total(step, name.substr(kTotalPrefix.size()), value);
    }
    return {};
  });
  for (auto& [worker, step] : workers) {
    if (step.divided && !(step.divided->wall > 0)) step.divided.reset();  // the first step has its start in its place
  }
  std::erase_if(workers, [](const auto& worker) { return worker.second.empty(); });
  return workers;
}

void PhaseSums::add(const DividedStep& step) {
  ++divided_steps_;
  divided_wall_ += step.wall;
  for (std::size_t i = 0; i < kPhaseCount; ++i) divided_[i] += step.seconds[i];
}

void PhaseSums::add_totals(const TimedStep& before, const TimedStep& after) {
  total_wall_ += std::max(0.0, *after.total_wall - *before.total_wall);
  total_steps_ += std::max(0.0, after.total_steps - before.total_steps);
  for (std::size_t i = 0; i < kTotalledPhases; ++i) totals_[i] += std::max(0.0, after.totals[i] - before.totals[i]);
}

void PhaseSums::add(const PhaseSums& other) {
  divided_steps_ += other.divided_steps_;
  divided_wall_ += other.divided_wall_;
  total_wall_ += other.total_wall_;
  total_steps_ += other.total_steps_;
  for (std::size_t i = 0; i < kPhaseCount; ++i) divided_[i] += other.divided_[i];
  for (std::size_t i = 0; i < kTotalledPhases; ++i) totals_[i] += other.totals_[i];
}

double PhaseSums::share(Phase phase) const {
  const auto index = static_cast<std::size_t>(phase);
  if (!(total_wall_ > 0)) return divided_wall_ > 0 ? std::min(1.0, divided_[index] / divided_wall_) : 0;
  double totalled = 0;
  for (const double seconds : totals_) totalled += seconds;
  if (index < kTotalledPhases) return std::min(1.0, totals_[index] / total_wall_);
  // No other steps but those that were divided were captured.
  const double captured = std::min(1.0, divided_[static_cast<std::size_t>(Phase::kCapture)] / total_wall_);
  if (phase == Phase::kCapture) return captured;
  double others = 0;
  for (std::size_t i = kTotalledPhases; i < kPhaseCount; ++i) {
    if (i != static_cast<std::size_t>(Phase::kCapture)) others += divided_[i];
  }
  const double left = std::max(0.0, 1 - totalled / total_wall_ - captured);
  return others > 0 ? left * divided_[index] / others : 0;
}

bool PhaseShares::take(const StepWindow& window) {
  return take(read_phases(window));
}

bool PhaseShares::take(const std::map<std::string, TimedStep>& step) {
  newest_ = step;
  for (const auto& [worker, of_worker] : step) {
    const auto known = workers_.find(worker);
    if (known == workers_.end() && workers_.size() == kMaxWorkers) continue;
    take(known == workers_.end() ? workers_[worker] : known->second, of_worker);
    for (std::size_t i = 0; i < kPhaseCount; ++i) {
      seen_[i] = seen_[i] || (of_worker.divided && of_worker.divided->seconds[i] > 0) ||
                 (i < kTotalledPhases && of_worker.totals[i] > 0);
    }
  }
  return !step.empty();
}

void PhaseShares::take(OfWorker& worker, const TimedStep& step) {
  std::vector<PhaseSums>& chunks = worker.chunks;
  const bool has_totals = step.total_wall && worker.last_totals;
  // A run that goes on begins its sums anew.
  const bool is_continued = has_totals && *step.total_wall >= *worker.last_totals->total_wall;
  if (step.divided || is_continued) {
    if (chunks.empty() || chunks.back().seconds() >= worker.chunk_seconds) chunks.emplace_back();
    // Totals reach back to the last step that was written; a step that was divided without them counts for itself.
    if (step.divided) chunks.back().add(*step.divided);
    if (is_continued) chunks.back().add_totals(*worker.last_totals, step);
  }
  if (step.total_wall) worker.last_totals = step;
  if (chunks.size() <= kMostChunks) return;
  for (std::size_t i = 0; i < chunks.size() / 2; ++i) {
    PhaseSums both = chunks[2 * i];
    both.add(chunks[2 * i + 1]);
    chunks[i] = both;
  }
  const PhaseSums newest = chunks.back();
  const bool is_odd = chunks.size() % 2 == 1;
  chunks.resize(chunks.size() / 2);
  if (is_odd) chunks.push_back(newest);
  worker.chunk_seconds *= 2;
}

PhaseSums PhaseShares::OfWorker::sum() const {
  PhaseSums sum;
  for (const PhaseSums& chunk : chunks) sum.add(chunk);
  return sum;
}

std::vector<std::string> PhaseShares::workers() const {
  std::vector<std::string> names;
  for (const auto& [worker, state] : workers_) names.push_back(worker);
  return names;
}

double PhaseShares::seconds() const {
  double least = std::numeric_limits<double>::max();
  for (const auto& [name, worker] : workers_) least = std::min(least, worker.sum().seconds());
  return workers_.empty() ? 0 : least;
}

double PhaseShares::steps() const {
  double least = std::numeric_limits<double>::max();
  for (const auto& [name, worker] : workers_) least = std::min(least, worker.sum().steps());
  return workers_.empty() ? 0 : least;
}

std::size_t PhaseShares::divided_steps() const {
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& [name, worker] : workers_) least = std::min(least, worker.sum().divided_steps());
  return workers_.empty() ? 0 : least;
}

bool PhaseShares::has_seen(Phase phase) const {
  return seen_[static_cast<std::size_t>(phase)];
}

namespace {

double sum_of_shares(const PhaseSums& sums, std::span<const Phase> phases) {
  double share = 0;
  for (const Phase phase : phases) share += sums.share(phase);
  return std::min(1.0, share);
}

}  // namespace

ShareRange PhaseShares::share_of(const OfWorker& worker, std::span<const Phase> phases) {
  ShareRange range;
  range.mean = sum_of_shares(worker.sum(), phases);
  range.low = range.mean * (1 - kUncertain);
  range.high = std::min(1.0, range.mean * (1 + kUncertain));
  if (worker.chunks.size() < 2 * kQuarters) return range;
  range.low = range.high = range.mean;
  for (std::size_t quarter = 0; quarter < kQuarters; ++quarter) {
    PhaseSums sums;
    for (std::size_t i = quarter * worker.chunks.size() / kQuarters;
         i < (quarter + 1) * worker.chunks.size() / kQuarters; ++i) {
      sums.add(worker.chunks[i]);
    }
    const double share = sum_of_shares(sums, phases);
    range.low = std::min(range.low, share);
    range.high = std::max(range.high, share);
  }
  return range;
}

ShareRange PhaseShares::share(const std::string& worker, std::span<const Phase> phases) const {
  const auto found = workers_.find(worker);
  return found == workers_.end() ? ShareRange{} : share_of(found->second, phases);
}

const PhaseShares::OfWorker* PhaseShares::median_worker(std::span<const Phase> phases) const {
  std::vector<std::pair<double, const OfWorker*>> shares;
  for (const auto& [name, worker] : workers_) shares.emplace_back(sum_of_shares(worker.sum(), phases), &worker);
  if (shares.empty()) return nullptr;
  const auto middle = shares.begin() + static_cast<std::ptrdiff_t>((shares.size() - 1) / 2);
  std::nth_element(shares.begin(), middle, shares.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return middle->second;
}

ShareRange PhaseShares::share(std::span<const Phase> phases) const {
  const OfWorker* const worker = median_worker(phases);
  return worker == nullptr ? ShareRange{} : share_of(*worker, phases);
}

double PhaseShares::seconds_a_step(std::span<const Phase> phases) const {
  const OfWorker* const worker = median_worker(phases);
  if (worker == nullptr) return 0;
  const PhaseSums sums = worker->sum();
  return sums.steps() > 0 ? sum_of_shares(sums, phases) * sums.seconds() / sums.steps() : 0;
}

}  // namespace trainwarden::rules
