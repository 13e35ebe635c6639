// Trial: what was sampled over time.
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>

#include <fmt/format.h>

#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "data/format/step_metric.h"
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

// Of a worker, of who reads its output, or of a machine's sampler; null when there is none, or it could not be read
// yet.
journal::JournalReader* find_reader(trial::RunReader& run, const std::string& name) {
  for (trial::SampledJournal* const journal : run.sampled_journals()) {
    if (journal->name() == name) return journal->readable() ? &journal->reader() : nullptr;
  }
  return nullptr;
}

std::optional<std::uint32_t> find_metric(journal::JournalReader* reader, const Metric& wanted) {
  if (reader == nullptr) return std::nullopt;
  const auto metrics = reader->metrics();
  const auto found =
      std::find_if(metrics.begin(), metrics.end(), [&](const Metric& metric) { return same_metric(metric, wanted); });
  if (found == metrics.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - metrics.begin());
}

Result<std::vector<Sample>> read_samples(journal::JournalReader& reader, std::uint32_t metric,
                                         std::int64_t from_unix_ns, std::int64_t to_unix_ns) {
  journal::SampleQuery query;
  query.metrics = {metric};
  query.from_unix_ns = from_unix_ns;
  query.to_unix_ns = to_unix_ns;
  std::vector<Sample> samples;
  TRAINWARDEN_RETURN_IF_ERROR(reader.samples(query, [&](const journal::SampleChunk& chunk) {
    samples.insert(samples.end(), chunk.samples.begin(), chunk.samples.end());
  }));
  // Only where the clock of the machine was set back do frames overlap.
  if (!std::is_sorted(samples.begin(), samples.end(), sample_before)) {
    std::stable_sort(samples.begin(), samples.end(), sample_before);
  }
  return samples;
}

Status no_such_metric(const SampledMetric& wanted) {
  return Status(Code::kNotFound, fmt::format("{} has no metric \"{}\" of {} {}; metrics() lists those that there are",
                                             printable(wanted.worker), printable(wanted.metric.name),
                                             name(wanted.metric.source), printable(wanted.metric.instance)));
}

}  // namespace

std::vector<SampledMetric> Trial::metrics() const {
  std::vector<SampledMetric> metrics;
  const auto add = [&metrics](journal::JournalReader& reader, const std::string& name) {
    for (const Metric& metric : reader.metrics()) {
      if (!format::is_step_metric(metric)) metrics.push_back({metric, name});
    }
  };
  for (trial::SampledJournal* const journal : impl_->run().sampled_journals()) {
    if (journal->readable()) add(journal->reader(), journal->name());
  }
  std::sort(metrics.begin(), metrics.end(), metric_before);
  return metrics;
}

Result<std::vector<Sample>> Trial::samples(const SampledMetric& wanted, std::int64_t from_unix_ns,
                                           std::int64_t to_unix_ns) {
  return no_throw([&]() -> Result<std::vector<Sample>> {
    journal::JournalReader* const reader = find_reader(impl_->run(), wanted.worker);
    const auto metric = find_metric(reader, wanted.metric);
    if (!metric) return no_such_metric(wanted);
    return read_samples(*reader, *metric, from_unix_ns, to_unix_ns);
  });
}

Result<std::vector<Sample>> Trial::sample_steps(const SampledMetric& wanted, std::int64_t from_unix_ns,
                                                std::int64_t to_unix_ns) {
  return no_throw([&]() -> Result<std::vector<Sample>> {
    journal::JournalReader* const reader = find_reader(impl_->run(), wanted.worker);
    if (!find_metric(reader, wanted.metric)) return no_such_metric(wanted);
    const auto steps = find_metric(reader, format::step_metric(wanted.metric));
    if (!steps) return std::vector<Sample>();
    return read_samples(*reader, *steps, from_unix_ns, to_unix_ns);
  });
}

}  // namespace trainwarden
