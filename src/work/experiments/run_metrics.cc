#include "work/experiments/run_metrics.h"

#include <limits>

#include "read/trial/printed_metrics.h"
#include "read/trial/trial_access.h"
#include "trainwarden/trial.h"
#include "work/experiments/entities.h"

namespace trainwarden::experiments {

Result<std::map<std::string, MetricSummary>> metrics_of_run(const storage::Location& run) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto trial, TrialAccess::open(run));
  std::map<std::string, MetricSummary> metrics;
  for (const SampledMetric& sampled : trial->metrics()) {
    if (trial::is_of_machine(sampled)) continue;
    const std::string& name = sampled.metric.name;
    if (name.empty() || name.size() > kMaxKey) continue;
    if (metrics.size() == kMaxMetrics && !metrics.contains(name)) continue;
    const auto samples = trial->samples(sampled, 0, std::numeric_limits<std::int64_t>::max());
    if (!samples.ok()) continue;
    MetricSummary summary;
    for (const Sample& sample : *samples) {
      if (summary.count == kMostSamples) break;
      summary.add(sample.value, sample.unix_ns);
    }
    metrics[name].merge(summary);
  }
  return metrics;
}

}  // namespace trainwarden::experiments
