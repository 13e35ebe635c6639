// Trial: what was sampled over time.
#include <algorithm>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "read/trial/trial_impl.h"
#include "trainwarden/trial.h"

namespace trainwarden {
namespace {

bool same_metric(const Metric& a, const Metric& b) {
  return a.name == b.name && a.source == b.source && a.instance == b.instance;
}

bool metric_before(const SampledMetric& a, const SampledMetric& b) {
  return std::tie(a.metric.name, a.metric.source, a.metric.instance, a.worker) <
         std::tie(b.metric.name, b.metric.source, b.metric.instance, b.worker);
}

bool sample_before(const Sample& a, const Sample& b) {
  return a.unix_ns < b.unix_ns;
}

}  // namespace

std::vector<SampledMetric> Trial::metrics() const {
  std::vector<SampledMetric> metrics;
  for (const auto& worker : impl_->run().workers()) {
    if (!worker->readable()) continue;
    for (const Metric& metric : worker->reader().metrics()) metrics.push_back({metric, worker->name()});
  }
  std::sort(metrics.begin(), metrics.end(), metric_before);
  return metrics;
}

Result<std::vector<Sample>> Trial::samples(const SampledMetric& wanted, std::int64_t from_unix_ns,
                                           std::int64_t to_unix_ns) {
  return no_throw([&]() -> Result<std::vector<Sample>> {
    trial::WorkerJournal* const worker = impl_->run().find_worker(wanted.worker);
    const auto metrics =
        worker != nullptr && worker->readable() ? worker->reader().metrics() : std::span<const Metric>();
    const auto found = std::find_if(metrics.begin(), metrics.end(),
                                    [&](const Metric& metric) { return same_metric(metric, wanted.metric); });
    if (found == metrics.end()) {
      return Status(Code::kNotFound,
                    fmt::format("{} has no metric \"{}\" of {} {}; metrics() lists those that there are",
                                printable(wanted.worker), printable(wanted.metric.name), name(wanted.metric.source),
                                printable(wanted.metric.instance)));
    }
    journal::SampleQuery query;
    query.metrics = {static_cast<std::uint32_t>(found - metrics.begin())};
    query.from_unix_ns = from_unix_ns;
    query.to_unix_ns = to_unix_ns;
    std::vector<Sample> samples;
    TRAINWARDEN_RETURN_IF_ERROR(worker->reader().samples(query, [&](const journal::SampleChunk& chunk) {
      samples.insert(samples.end(), chunk.samples.begin(), chunk.samples.end());
    }));
    // Only where the clock of the machine was set back do frames overlap.
    if (!std::is_sorted(samples.begin(), samples.end(), sample_before)) {
      std::stable_sort(samples.begin(), samples.end(), sample_before);
    }
    return samples;
  });
}

}  // namespace trainwarden
