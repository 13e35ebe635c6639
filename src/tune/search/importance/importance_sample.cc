#include "tune/search/importance/importance_sample.h"

#include <algorithm>
#include <cmath>

#include "tune/search/importance/importance_streams.h"
#include "tune/search/random.h"

namespace trainwarden::tune {
namespace {

constexpr double kFence = 3;  // interquartile ranges

// So many of them, each as likely as another, in their order.
void keep_some(std::vector<std::size_t>& trials, std::size_t count, std::uint64_t seed) {
  Random random(seed, kSampleStream);
  for (std::size_t i = 0; i < count; ++i) std::swap(trials[i], trials[i + random.below(trials.size() - i)]);
  trials.resize(count);
  std::sort(trials.begin(), trials.end());
}

}  // namespace

ImportanceSample sample_trials(const History& history, std::size_t metric) {
  ImportanceSample sample;
  std::vector<std::size_t> used;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    const StudyTrial& trial = history.trials[i];
    const bool has_value = metric < trial.values.size() && std::isfinite(trial.values[metric]);
    if (trial.state == TrialState::kComplete && has_value) {
      used.push_back(i);
    } else if (trial.is_over()) {
      ++sample.left_out;
    }
  }
  if (used.size() > kMaxSampledTrials) {
    sample.passed_over = used.size() - kMaxSampledTrials;
    keep_some(used, kMaxSampledTrials, history.seed);
  }
  for (const std::size_t i : used) {
    sample.costs.push_back(history.metrics[metric].cost(history.trials[i].values[metric]));
  }
  std::vector<double> values(used.size());
  for (std::size_t parameter = 0; parameter < history.space.size(); ++parameter) {
    std::transform(used.begin(), used.end(), values.begin(),
                   [&](std::size_t i) { return history.trials[i].point[parameter]; });
    ParameterCells cells(history.space, parameter, values);
    if (cells.varies()) sample.parameters.push_back(std::move(cells));
  }
  return sample;
}

void hold_outliers(ImportanceSample& sample) {
  if (sample.costs.empty()) return;
  std::vector<double> sorted = sample.costs;
  std::sort(sorted.begin(), sorted.end());
  const double lower = sorted[sorted.size() / 4], upper = sorted[sorted.size() * 3 / 4];
  const double reach = kFence * (upper - lower);
  if (!(reach > 0) || !std::isfinite(reach)) return;
  for (double& cost : sample.costs) {
    const double held = std::clamp(cost, lower - reach, upper + reach);
    sample.moved += held != cost ? 1 : 0;
    cost = held;
  }
}

}  // namespace trainwarden::tune
