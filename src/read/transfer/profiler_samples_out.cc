#include "read/transfer/profiler_samples_out.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "core/base/text.h"
#include "data/foreign/smdebug_profile_layout.h"
#include "data/foreign/smdebug_system_metrics.h"
#include "read/profile/rates.h"
#include "read/trial/printed_metrics.h"

namespace trainwarden::transfer {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000, kMinuteNs = 60 * kSecondNs;
constexpr std::int64_t kBeforeNs = 10 * kSecondNs;   // a rate needs the sample before
constexpr std::int64_t kStretchNs = 10 * kMinuteNs;  // that is in memory at once
constexpr double kHundred = 100;

// What SageMaker calls a metric of ours; `scale` makes its unit of ours.
struct SmdebugName {
  std::string type, name, dimension;
  double scale = 1;
};

struct OutgoingMetric {
  SampledMetric metric;
  SmdebugName name;
  std::string node;
  std::optional<SampledMetric> whole;  // that it is a share of
};

// The part that stands for the "*"; none when the name is not of the pattern.
std::optional<std::string> star_of(std::string_view name, std::string_view head, std::string_view tail) {
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return std::nullopt;
  return std::string(name.substr(head.size(), name.size() - head.size() - tail.size()));
}

std::optional<SmdebugName> smdebug_name(const Metric& metric, const std::string& device) {
  const std::string_view name = metric.name;
  for (const std::string_view tail : {".busy", ".utilisation"}) {
    const auto core = star_of(name, "cpu.", tail);
    if (core && parse_int(*core)) return SmdebugName{"cpu", "cpu" + *core, "CPUUtilization", kHundred};
  }
  for (const std::string_view tail : {".iowait", ".iowait.ratio"}) {
    const auto core = star_of(name, "cpu.", tail);
    if (core && parse_int(*core)) return SmdebugName{"i/o", "cpu" + *core, "I/OWaitPercentage", kHundred};
  }
  if (name == "gpu.utilisation") return SmdebugName{"gpu", device, "GPUUtilization", kHundred};
  if (name == "gpu.memory.used" || name == "gpu.memory.used.ratio") {
    return SmdebugName{"gpu", device, "GPUMemoryUtilization", kHundred};
  }
  if (name == "memory.used" || name == "memory.used.ratio") {
    return SmdebugName{"memory", "MemoryUsedPercent", "", kHundred};
  }
  if (const auto port = star_of(name, "net.", ".received"))
    return SmdebugName{"network", *port + "-received", "Platform"};
  if (const auto port = star_of(name, "net.", ".sent")) return SmdebugName{"network", *port + "-sent", "Platform"};
  if (const auto port = star_of(name, "net.", ".throughput")) return SmdebugName{"network", *port, "Platform"};
  return std::nullopt;
}

bool before_device(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

class SampleWalk {
 public:
  SampleWalk(Trial& trial, const ProfilerExportOptions& options, OutputTally& tally)
      : trial_(trial), options_(options), tally_(tally) {}

  Result<std::uint64_t> run() {
    choose();
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0;
    TRAINWARDEN_RETURN_IF_ERROR(widen(first, last));
    for (std::int64_t from = first / kStretchNs * kStretchNs; from <= last; from += kStretchNs) {
      TRAINWARDEN_RETURN_IF_ERROR(write_stretch(from, from + kStretchNs));
    }
    return samples_;
  }

 private:
  static constexpr std::int64_t kAllTime = std::numeric_limits<std::int64_t>::max();

  // Machines need not have been sampled at the same time: a metric of each is looked at.
  Status widen(std::int64_t& first, std::int64_t& last) {
    std::string seen;
    for (const OutgoingMetric& metric : metrics_) {
      if (metric.node == seen) continue;
      seen = metric.node;
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto samples, trial_.samples(metric.metric, 0, kAllTime));
      if (samples.empty()) continue;
      first = std::min(first, samples.front().unix_ns);
      last = std::max(last, samples.back().unix_ns);
    }
    return {};
  }

  void choose() {
    std::map<std::string, std::vector<std::string>> devices;  // of each machine, in their order
    const std::vector<SampledMetric> all = trial_.metrics();
    for (const SampledMetric& metric : all) {
      if (!trial::is_of_machine(metric) || metric.metric.source != MetricSource::kDevice) continue;
      auto& of_machine = devices[metric.worker];
      if (std::find(of_machine.begin(), of_machine.end(), metric.metric.instance) == of_machine.end()) {
        of_machine.push_back(metric.metric.instance);
      }
    }
    for (auto& [machine, names] : devices) std::sort(names.begin(), names.end(), before_device);
    for (const SampledMetric& metric : all) {
      if (!trial::is_of_machine(metric)) continue;
      const auto& of_machine = devices[metric.worker];
      const auto at = std::find(of_machine.begin(), of_machine.end(), metric.metric.instance);
      auto name = smdebug_name(metric.metric, "gpu" + std::to_string(at - of_machine.begin()));
      if (!name) continue;
      OutgoingMetric outgoing{metric, *std::move(name), node_of(metric.worker), whole_of(all, metric)};
      const bool needs_whole = metric.metric.name == "memory.used" || metric.metric.name == "gpu.memory.used";
      if (!needs_whole || outgoing.whole) metrics_.push_back(std::move(outgoing));
    }
    std::stable_sort(metrics_.begin(), metrics_.end(),
                     [](const OutgoingMetric& a, const OutgoingMetric& b) { return a.node < b.node; });
  }

  // "algo-1" for "machine-0".
  static std::string node_of(std::string_view worker) {
    const auto number = parse_int(worker.substr(worker.rfind('-') + 1));
    return "algo-" + std::to_string(number.value_or(0) + 1);
  }

  static std::optional<SampledMetric> whole_of(const std::vector<SampledMetric>& all, const SampledMetric& metric) {
    std::string name = metric.metric.name;
    if (!name.ends_with(".used")) return std::nullopt;
    name.replace(name.size() - std::string_view("used").size(), std::string::npos, "total");
    for (const SampledMetric& other : all) {
      if (other.worker == metric.worker && other.metric.name == name &&
          other.metric.instance == metric.metric.instance) {
        return other;
      }
    }
    return std::nullopt;
  }

  Result<std::vector<Sample>> values_of(const OutgoingMetric& metric, std::int64_t from, std::int64_t to) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto samples, trial_.samples(metric.metric, from - kBeforeNs, to));
    if (metric.metric.metric.kind == MetricKind::kCounter) samples = profile::rate_of(samples);
    if (metric.whole) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto whole, trial_.samples(*metric.whole, 0, to));
      const double of = whole.empty() ? 0 : whole.back().value;
      if (!(of > 0)) return std::vector<Sample>();
      for (Sample& sample : samples) sample.value /= of;
    }
    std::erase_if(samples, [&](const Sample& sample) { return sample.unix_ns < from || !std::isfinite(sample.value); });
    return samples;
  }

  // Means of the interval, at the time of its last sample.
  void add_means(const OutgoingMetric& metric, const std::vector<Sample>& samples) {
    for (std::size_t i = 0; i < samples.size();) {
      const std::int64_t slot = samples[i].unix_ns / options_.interval_ns;
      double sum = 0;
      std::size_t next = i;
      for (; next < samples.size() && samples[next].unix_ns / options_.interval_ns == slot; ++next) {
        sum += samples[next].value;
      }
      double value = sum / static_cast<double>(next - i) * metric.name.scale;
      // Kernels count processor time in ticks of theirs: a stretch of ours may hold one too many.
      if (metric.name.scale == kHundred) value = std::clamp(value, 0.0, kHundred);
      const std::int64_t unix_ns = samples[next - 1].unix_ns;
      lines_[{unix_ns / kMinuteNs, metric.node}].emplace_back(
          unix_ns, foreign::smdebug_sample_line(
                       {metric.name.type, metric.name.name, metric.name.dimension, metric.node, value, unix_ns}));
      ++samples_;
      i = next;
    }
  }

  Status write_stretch(std::int64_t from, std::int64_t to) {
    for (const OutgoingMetric& metric : metrics_) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto samples, values_of(metric, from, to));
      add_means(metric, samples);
    }
    for (auto& [key, lines] : lines_) {
      std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
      std::string text;
      for (const auto& [unix_ns, line] : lines) text += line;
      const std::string path = foreign::smdebug_system_file(key.first * (kMinuteNs / kSecondNs), key.second);
      TRAINWARDEN_RETURN_IF_ERROR(write_file(options_.out / path, text, tally_));
    }
    lines_.clear();
    return {};
  }

  Trial& trial_;
  const ProfilerExportOptions& options_;
  OutputTally& tally_;
  std::vector<OutgoingMetric> metrics_;
  // By minute and node.
  std::map<std::pair<std::int64_t, std::string>, std::vector<std::pair<std::int64_t, std::string>>> lines_;
  std::uint64_t samples_ = 0;
};

}  // namespace

Result<std::uint64_t> write_machine_samples(Trial& trial, const ProfilerExportOptions& options, OutputTally& tally) {
  return SampleWalk(trial, options, tally).run();
}

}  // namespace trainwarden::transfer
