#include "judge/rules/timeline/sample_rings.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "read/trial/trial_access.h"

namespace trainwarden::rules {
namespace {

bool earlier(const Sample& a, const Sample& b) {
  return a.unix_ns < b.unix_ns;
}

}  // namespace

Status SampleRings::add(const MetricSelection& wanted) {
  TRAINWARDEN_ASSIGN_OR_RETURN(RegexSet patterns, RegexSet::compile(wanted.patterns));
  selections_.push_back({wanted, std::move(patterns)});
  return Status();
}

void SampleRings::drop(std::size_t selection) {
  selections_[selection].active = false;
  for (auto& [key, ring] : rings_) {
    if (is_wanted(ring)) continue;
    held_ -= ring.samples.size() - ring.start;
    ring.samples = {};
    ring.start = 0;
  }
}

void SampleRings::find_metrics(Trial& trial) {
  for (trial::SampledJournal* journal : TrialAccess::steadily_sampled(trial)) {
    if (journal->readable()) find_metrics(*journal);
  }
}

void SampleRings::find_metrics(trial::SampledJournal& journal) {
  const auto metrics = journal.reader().metrics();
  std::size_t& known = known_metrics_[&journal];
  for (; known < metrics.size(); ++known) {
    const Metric& metric = metrics[known];
    Ring ring{&journal, static_cast<std::uint32_t>(known), metric, {}, {}};
    for (std::size_t i = 0; i < selections_.size(); ++i) {
      const auto& sources = selections_[i].wanted.sources;
      const bool source_fits =
          sources.empty() || std::find(sources.begin(), sources.end(), metric.source) != sources.end();
      if (source_fits && selections_[i].patterns.found_in(metric.name)) ring.selections.push_back(i);
    }
    if (ring.selections.empty()) continue;
    rings_.emplace(Key{metric.name, metric.source, metric.instance, journal.name()}, std::move(ring));
  }
}

bool SampleRings::is_wanted(const Ring& ring) const {
  return std::any_of(ring.selections.begin(), ring.selections.end(),
                     [&](std::size_t selection) { return selections_[selection].active; });
}

Result<std::size_t> SampleRings::read(std::int64_t from_unix_ns, std::int64_t to_unix_ns) {
  const std::size_t held_before = held_;
  for (const auto& [journal, known] : known_metrics_) {
    TRAINWARDEN_RETURN_IF_ERROR(read_journal(*journal, from_unix_ns, to_unix_ns));
  }
  return held_ - std::min(held_, held_before);
}

Status SampleRings::read_journal(trial::SampledJournal& journal, std::int64_t from_unix_ns, std::int64_t to_unix_ns) {
  std::unordered_map<std::uint32_t, Ring*> by_metric;
  journal::SampleQuery query;
  query.from_unix_ns = from_unix_ns;
  query.to_unix_ns = to_unix_ns;
  for (auto& [key, ring] : rings_) {
    if (ring.journal != &journal || !is_wanted(ring)) continue;
    // What an earlier call took in before it failed comes again.
    const auto again = std::lower_bound(ring.samples.begin() + static_cast<std::ptrdiff_t>(ring.start),
                                        ring.samples.end(), Sample{from_unix_ns, 0}, earlier);
    held_ -= static_cast<std::size_t>(ring.samples.end() - again);
    ring.samples.erase(again, ring.samples.end());
    by_metric.emplace(ring.metric, &ring);
    query.metrics.push_back(ring.metric);
  }
  if (query.metrics.empty()) return Status();
  bool too_many = false;
  TRAINWARDEN_RETURN_IF_ERROR(journal.reader().samples(query, [&](const journal::SampleChunk& chunk) {
    too_many = too_many || chunk.samples.size() > kMaxHeldSamples - held_;
    if (too_many) return;
    std::vector<Sample>& samples = by_metric.at(chunk.metric)->samples;
    const auto end = static_cast<std::ptrdiff_t>(samples.size());
    samples.insert(samples.end(), chunk.samples.begin(), chunk.samples.end());
    held_ += chunk.samples.size();
    // Only where the clock of the machine was set back do frames overlap.
    const auto middle = samples.begin() + end;
    if (end > 0 && !earlier(*std::prev(middle), *middle)) {
      std::inplace_merge(samples.begin() + static_cast<std::ptrdiff_t>(by_metric.at(chunk.metric)->start), middle,
                         samples.end(), earlier);
    }
  }));
  if (!too_many) return Status();
  return Status(Code::kResourceExhausted,
                fmt::format("the windows of time of all rules hold more than {} samples; choose fewer metrics or a "
                            "shorter window",
                            kMaxHeldSamples));
}

void SampleRings::forget_before(std::int64_t unix_ns) {
  for (auto& [key, ring] : rings_) {
    const auto begin = ring.samples.begin() + static_cast<std::ptrdiff_t>(ring.start);
    const auto kept = std::lower_bound(begin, ring.samples.end(), Sample{unix_ns, 0}, earlier);
    const auto forgotten = static_cast<std::size_t>(kept - begin);
    held_ -= forgotten;
    ring.start += forgotten;
    if (ring.start * 2 < ring.samples.size()) continue;  // each sample is moved once or twice in all
    ring.samples.erase(ring.samples.begin(), ring.samples.begin() + static_cast<std::ptrdiff_t>(ring.start));
    ring.start = 0;
  }
}

std::span<const Sample> SampleRings::between(const Ring& ring, std::int64_t from_unix_ns, std::int64_t to_unix_ns) {
  const auto begin = ring.samples.begin() + static_cast<std::ptrdiff_t>(ring.start);
  const auto first = std::lower_bound(begin, ring.samples.end(), Sample{from_unix_ns, 0}, earlier);
  return {first, std::lower_bound(first, ring.samples.end(), Sample{to_unix_ns, 0}, earlier)};
}

std::vector<MetricSeries> SampleRings::series(std::size_t selection, std::int64_t from_unix_ns,
                                              std::int64_t to_unix_ns) const {
  std::vector<MetricSeries> found;
  for (const auto& [key, ring] : rings_) {
    if (std::find(ring.selections.begin(), ring.selections.end(), selection) == ring.selections.end()) continue;
    const std::span<const Sample> samples = between(ring, from_unix_ns, to_unix_ns);
    if (!samples.empty()) found.push_back({ring.description, ring.journal->name(), samples});
  }
  return found;
}

std::optional<std::int64_t> SampleRings::first_from(std::size_t selection, std::int64_t unix_ns) const {
  std::optional<std::int64_t> first;
  for (const auto& [key, ring] : rings_) {
    if (std::find(ring.selections.begin(), ring.selections.end(), selection) == ring.selections.end()) continue;
    const auto samples = between(ring, unix_ns, std::numeric_limits<std::int64_t>::max());
    if (!samples.empty() && (!first || samples.front().unix_ns < *first)) first = samples.front().unix_ns;
  }
  return first;
}

}  // namespace trainwarden::rules
