#include "judge/rules/builtin/profiler/moments.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "read/trial/trial_access.h"

namespace trainwarden::rules {
namespace {

constexpr double kNsASecond = 1e9;
constexpr double kLeastPartOfMoment = 0.5;  // of a moment that must be known of a metric

// The part that stands for the "*" of the pattern; none when the name is not of it.
std::optional<std::string_view> part_of_name(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern ? std::optional(std::string_view()) : std::nullopt;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return std::nullopt;
  return name.substr(head.size(), name.size() - head.size() - tail.size());
}

std::string metric_expression(std::string_view pattern) {
  std::string expression = "^";
  for (const char c : pattern) {
    if (c == '*') {
      expression += ".+";
    } else if (c == '.') {
      expression += "\\.";
    } else {
      expression += c;
    }
  }
  return expression + "$";
}

}  // namespace

std::span<const MomentValue> Moment::all(std::size_t role) const {
  const auto first = std::lower_bound(values.begin(), values.end(), role,
                                      [](const MomentValue& value, std::size_t wanted) { return value.role < wanted; });
  auto last = first;
  while (last != values.end() && last->role == role) ++last;
  return {first, last};
}

std::optional<double> Moment::first(std::size_t role) const {
  const auto found = all(role);
  return found.empty() ? std::nullopt : std::optional(found.front().value);
}

std::optional<double> Moment::highest(std::size_t role) const {
  std::optional<double> highest;
  for (const MomentValue& value : all(role)) highest = std::max(highest.value_or(value.value), value.value);
  return highest;
}

std::optional<double> Moment::mean(std::size_t role) const {
  const auto found = all(role);
  if (found.empty()) return std::nullopt;
  double sum = 0;
  for (const MomentValue& value : found) sum += value.value;
  return sum / static_cast<double>(found.size());
}

MomentReader::MomentReader(std::vector<std::string> roles, std::int64_t cadence_ns)
    : roles_(std::move(roles)), cadence_ns_(cadence_ns) {}

TimeSchedule MomentReader::schedule() const {
  MetricSelection metrics;
  for (const std::string& role : roles_) metrics.patterns.push_back(metric_expression(role));
  return {std::move(metrics), cadence_ns_, cadence_ns_};
}

// What a journal says of a GPU or a process belongs to the host that it says other things of.
std::string MomentReader::node_of(const TimeWindow& window, const MetricSeries& series) {
  if (series.metric.source == MetricSource::kHost) {
    return hosts_[series.worker] = series.metric.instance.empty() ? series.worker : series.metric.instance;
  }
  const auto known = hosts_.find(series.worker);
  if (known != hosts_.end()) return known->second;
  for (const SampledMetric& metric : window.trial.metrics()) {
    if (metric.worker != series.worker || metric.metric.source != MetricSource::kHost) continue;
    return hosts_[series.worker] = metric.metric.instance.empty() ? series.worker : metric.metric.instance;
  }
  return hosts_[series.worker] = series.worker;
}

MomentReader::Track* MomentReader::track_of(Node& node, const MetricSeries& series) {
  for (std::size_t role = 0; role < roles_.size(); ++role) {
    const auto named = part_of_name(series.metric.name, roles_[role]);
    if (!named) continue;
    const bool of_host = series.metric.source == MetricSource::kHost;
    const std::pair key(role, of_host ? std::string(*named) : series.metric.instance);
    const auto known = node.tracks.find(key);
    if (known != node.tracks.end()) return &known->second;
    if (metrics_ >= kMaxMetrics) return nullptr;
    ++metrics_;
    return &node.tracks.emplace(key, Track{role, key.second, series.metric.kind == MetricKind::kCounter, std::nullopt})
                .first->second;
  }
  return nullptr;
}

void MomentReader::hold(Node& node, const Track& track, std::int64_t from_unix_ns, std::int64_t to_unix_ns,
                        double value) {
  while (from_unix_ns < to_unix_ns) {
    const std::int64_t number = from_unix_ns / kMomentNs;
    const std::int64_t end = std::min(to_unix_ns, (number + 1) * kMomentNs);
    if (number > node.visited) {
      const double seconds = static_cast<double>(end - from_unix_ns) / kNsASecond;
      Held& held = node.moments[number][&track];
      held.sum += value * seconds;
      held.seconds += seconds;
    }
    from_unix_ns = end;
  }
}

void MomentReader::take_sample(Node& node, Track& track, const Sample& sample) {
  if (!std::isfinite(sample.value) || sample.unix_ns < 0) return;
  if (track.last && sample.unix_ns <= track.last->unix_ns) return;
  if (track.last && sample.unix_ns - track.last->unix_ns <= kLongestGapNs) {
    const double seconds = static_cast<double>(sample.unix_ns - track.last->unix_ns) / kNsASecond;
    const double rise = sample.value - track.last->value;
    // A counter that fell began anew.
    if (!track.counter || rise >= 0) {
      hold(node, track, track.last->unix_ns, sample.unix_ns, track.counter ? rise / seconds : sample.value);
    }
  }
  if (track.last) track.gap_ns = std::min(sample.unix_ns - track.last->unix_ns, kLongestGapNs);
  track.last = sample;
  node.newest_unix_ns = std::max(node.newest_unix_ns, sample.unix_ns);
}

// Up to the earliest of the metrics' newest samples, without those that come no more.
std::int64_t MomentReader::known_until(const Node& node, bool last) {
  if (last) return std::numeric_limits<std::int64_t>::max();
  std::int64_t until = node.newest_unix_ns;
  for (const auto& [key, track] : node.tracks) {
    if (!track.last || node.newest_unix_ns - track.last->unix_ns > 4 * track.gap_ns + kLateNs) continue;
    until = std::min(until, track.last->unix_ns);
  }
  return until;
}

void MomentReader::visit_known(const std::string& name, Node& node, bool last, const Visit& visit) const {
  const std::int64_t until = known_until(node, last);
  std::vector<MomentValue> values;
  while (!node.moments.empty()) {
    const auto& [number, held_by_track] = *node.moments.begin();
    if (!last && number >= until / kMomentNs) break;
    values.clear();
    for (const auto& [track, held] : held_by_track) {
      const double known = held.seconds * kMomentsASecond;
      if (known >= kLeastPartOfMoment) values.push_back({track->role, track->part, held.sum / held.seconds});
    }
    std::sort(values.begin(), values.end(), [](const MomentValue& a, const MomentValue& b) {
      return a.role != b.role ? a.role < b.role : a.part < b.part;
    });
    if (!values.empty()) visit({name, number * kMomentNs, values});
    node.visited = number;
    node.moments.erase(node.moments.begin());
  }
}

bool is_last_window(const TimeWindow& window) {
  if (!window.trial.loaded_all_steps()) return false;
  for (trial::SampledJournal* const journal : TrialAccess::steadily_sampled(window.trial)) {
    if (!journal->readable()) continue;
    const auto times = journal->reader().sample_times();
    if (!times.ok() || (*times && (*times)->last_unix_ns >= window.to_unix_ns)) return false;
  }
  return true;
}

void MomentReader::take(const TimeWindow& window, const Visit& visit) {
  for (const MetricSeries& series : window.series) {
    Node& node = nodes_[node_of(window, series)];
    Track* const track = track_of(node, series);
    if (track == nullptr) continue;
    for (const Sample& sample : series.samples) take_sample(node, *track, sample);
  }
  const bool last = is_last_window(window);
  for (auto& [name, node] : nodes_) visit_known(name, node, last, visit);
}

std::string known_text(std::size_t known, const Patience& patience) {
  return fmt::format("{:g} s of {:g} s are known", static_cast<double>(known) / kMomentsASecond,
                     static_cast<double>(patience.moments) / kMomentsASecond);
}

RuleParameter scan_interval_parameter() {
  return {"scan_interval_us", "5000000", "how often it judges, in microseconds"};
}

}  // namespace trainwarden::rules
