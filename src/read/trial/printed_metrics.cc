#include "read/trial/printed_metrics.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "read/trial/trial_access.h"

namespace trainwarden::trial {
namespace {

// A step as a sample has it; whoever crafts a run may have put anything there.
std::optional<std::int64_t> whole_step(double value) {
  constexpr double kMostStep = 9007199254740992.0;  // 2^53: up to there doubles are whole numbers
  if (!(std::abs(value) <= kMostStep)) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

}  // namespace

bool is_of_machine(const SampledMetric& metric) {
  return metric.worker.starts_with("machine-");
}

std::vector<SampledMetric> printed_metrics(const Trial& trial) {
  std::vector<SampledMetric> metrics = trial.metrics();
  std::erase_if(metrics, [](const SampledMetric& metric) { return !metric.worker.starts_with("output-"); });
  if (metrics.size() > kMaxPrintedMetrics) metrics.resize(kMaxPrintedMetrics);
  std::map<std::string, std::size_t> places;
  if (const auto report = TrialAccess::output_report(trial)) {
    for (const auto& metric : report->metrics) places.emplace(metric.name, places.size());
  }
  const auto place_of = [&](const SampledMetric& metric) {
    const auto place = places.find(metric.metric.name);
    return place == places.end() ? places.size() : place->second;
  };
  std::stable_sort(metrics.begin(), metrics.end(),
                   [&](const SampledMetric& a, const SampledMetric& b) { return place_of(a) < place_of(b); });
  return metrics;
}

Result<std::vector<PrintedValue>> printed_values(Trial& trial, const SampledMetric& metric, std::int64_t from_unix_ns,
                                                 std::int64_t to_unix_ns) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Sample> samples, trial.samples(metric, from_unix_ns, to_unix_ns));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Sample> steps, trial.sample_steps(metric, from_unix_ns, to_unix_ns));
  std::vector<PrintedValue> values;
  values.reserve(samples.size());
  auto step = steps.begin();
  for (const Sample& sample : samples) {
    while (step != steps.end() && step->unix_ns < sample.unix_ns) ++step;
    const bool has_step = step != steps.end() && step->unix_ns == sample.unix_ns;
    values.push_back({sample.unix_ns, sample.value, has_step ? whole_step(step->value) : std::nullopt});
  }
  return values;
}

Result<std::vector<LastPrinted>> last_printed(Trial& trial, std::size_t most) {
  std::vector<LastPrinted> last;
  for (const SampledMetric& metric : printed_metrics(trial)) {
    if (last.size() == most) break;
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<PrintedValue> values, printed_values(trial, metric));
    if (!values.empty()) last.push_back({metric, values.back()});
  }
  return last;
}

}  // namespace trainwarden::trial
