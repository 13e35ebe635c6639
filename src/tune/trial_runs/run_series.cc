#include "tune/trial_runs/run_series.h"

#include <algorithm>

#include "read/trial/printed_metrics.h"

namespace trainwarden::tune {
namespace {

std::vector<Intermediate> saved_series(Trial& trial, std::string_view metric) {
  std::vector<Intermediate> series;
  for (const std::int64_t step : trial.steps_of(metric, Mode::kGlobal, Kept::kScalar | Kept::kValue)) {
    if (series.size() == kMaxRunSeries) break;
    const auto value = trial.scalar(metric, step);
    if (value.ok()) series.push_back({step, *value});
  }
  return series;
}

// Steps that were printed need not rise: a program that went on from a checkpoint prints some a second time.
std::vector<Intermediate> in_order(const std::vector<trial::PrintedValue>& values) {
  std::vector<Intermediate> series;
  const bool has_steps =
      std::all_of(values.begin(), values.end(), [](const auto& each) { return each.step.has_value(); });
  for (std::size_t i = 0; i < std::min(values.size(), kMaxRunSeries); ++i) {
    const std::int64_t step = has_steps ? *values[i].step : static_cast<std::int64_t>(i);
    while (!series.empty() && series.back().step >= step) series.pop_back();
    series.push_back({step, values[i].value});
  }
  return series;
}

std::vector<Intermediate> printed_series(Trial& trial, std::string_view metric) {
  for (const SampledMetric& printed : trial::printed_metrics(trial)) {
    if (printed.metric.name != metric) continue;
    const auto values = trial::printed_values(trial, printed);
    return values.ok() ? in_order(*values) : std::vector<Intermediate>();
  }
  return {};
}

}  // namespace

std::vector<Intermediate> series_of_run(Trial& trial, std::string_view metric) {
  if (trial.has_tensor(metric)) {
    auto series = saved_series(trial, metric);
    if (!series.empty()) return series;
  }
  return printed_series(trial, metric);
}

std::vector<std::string> metric_names_of_run(Trial& trial, std::size_t most) {
  std::vector<std::string> names;
  for (const SampledMetric& printed : trial::printed_metrics(trial)) names.push_back(printed.metric.name);
  const auto tensors = trial.tensor_names();
  for (const std::string& tensor : tensors.value_or({})) {
    if (names.size() >= most) break;
    const auto info = trial.tensor_info(tensor);
    if (info.ok() && info->scalars > 0 && !tensor.starts_with("trainwarden/")) names.push_back(tensor);
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  if (names.size() > most) names.resize(most);
  return names;
}

}  // namespace trainwarden::tune
