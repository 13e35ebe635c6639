#include "read/transfer/profiler_machines.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "data/foreign/smdebug_system_metrics.h"

namespace trainwarden::transfer {
namespace {

constexpr std::uint64_t kMaxFileBytes = std::uint64_t{256} << 20;
constexpr std::int64_t kSameTickNs = 20'000'000;  // what was read at once has times that differ by a few milliseconds
constexpr std::size_t kMaxMetrics = 4096;
constexpr std::size_t kSamplesInBatch = 100'000;
constexpr double kPercent = 0.01;

// "7" of "cpu7".
std::string number_of(std::string_view name, std::string_view kind) {
  return std::string(name.starts_with(kind) ? name.substr(kind.size()) : name);
}

Metric host_ratio(std::string name, std::string_view node) {
  return {std::move(name), "", MetricKind::kRatio, MetricSource::kHost, std::string(node)};
}

Metric device_ratio(std::string name, std::string_view device) {
  return {std::move(name), "", MetricKind::kRatio, MetricSource::kDevice, std::string(device)};
}

// Values of one tick, by metric.
struct Tick {
  std::int64_t unix_ns = 0;
  std::vector<std::pair<std::uint32_t, double>> values;
};

// What a node's samples become: each metric has a number, and means over processors are metrics too.
class MachineJournal {
 public:
  explicit MachineJournal(journal::JournalWriter& journal) : journal_(journal) {}

  // Of one file, in any order.
  Status add(std::vector<std::pair<std::int64_t, std::pair<std::uint32_t, double>>>& samples) {
    std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [unix_ns, value] : samples) {
      if (!tick_ || unix_ns - tick_->unix_ns > kSameTickNs || unix_ns < tick_->unix_ns || has(value.first)) {
        TRAINWARDEN_RETURN_IF_ERROR(close_tick());
        tick_ = Tick{unix_ns, {}};
        ++tick_number_;
      }
      last_tick_of_[value.first] = tick_number_;
      tick_->values.push_back(value);
    }
    return {};
  }

  // None beyond the limit.
  std::optional<std::uint32_t> number_of(const Metric& metric) {
    const auto key = std::tuple(metric.name, metric.instance);
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    if (numbers_.size() >= kMaxMetrics) return std::nullopt;
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    numbers_[key] = number;
    last_tick_of_.push_back(0);
    batch_.new_metrics.push_back({number, metric});
    for (Mean& mean : means_) {
      if (!metric.name.starts_with("cpu.") || !metric.name.ends_with(mean.ending) || metric.name == mean.name) continue;
      if (!mean.number) mean.number = number_of(host_ratio(mean.name, metric.instance));
      if (mean.number) mean.of.push_back(number);
      if (mean.counts && !processors_) {
        processors_ = number_of({"cpu.online", "", MetricKind::kGauge, MetricSource::kHost, metric.instance});
      }
    }
    return number;
  }

  Status finish() {
    TRAINWARDEN_RETURN_IF_ERROR(close_tick());
    return flush();
  }

 private:
  struct Mean {
    std::string name;
    std::string ending;
    bool counts = false;  // its parts are the processors
    std::optional<std::uint32_t> number;
    std::vector<std::uint32_t> of;  // rising
  };

  bool has(std::uint32_t metric) const { return last_tick_of_[metric] == tick_number_; }

  void add_means() {
    const std::size_t own = tick_->values.size();
    for (const Mean& mean : means_) {
      double sum = 0;
      std::size_t count = 0;
      for (std::size_t i = 0; i < own; ++i) {
        const auto& [metric, value] = tick_->values[i];
        if (!std::binary_search(mean.of.begin(), mean.of.end(), metric)) continue;
        sum += value;
        ++count;
      }
      if (count == 0 || !mean.number) continue;
      tick_->values.emplace_back(*mean.number, sum / static_cast<double>(count));
      if (mean.counts && processors_) tick_->values.emplace_back(*processors_, static_cast<double>(count));
    }
  }

  Status close_tick() {
    if (!tick_) return {};
    add_means();
    if (!ticks_.empty() && tick_->unix_ns <= ticks_.back().unix_ns) TRAINWARDEN_RETURN_IF_ERROR(flush());
    samples_ += tick_->values.size();
    ticks_.push_back(*std::move(tick_));
    tick_.reset();
    return samples_ < kSamplesInBatch ? Status() : flush();
  }

  // Metrics that have values at the same ticks share a table.
  Status flush() {
    if (ticks_.empty()) return {};
    std::map<std::uint32_t, journal::SampleSeries> series;
    for (std::size_t tick = 0; tick < ticks_.size(); ++tick) {
      for (const auto& [metric, value] : ticks_[tick].values) {
        journal::SampleSeries& one = series[metric];
        one.metric = metric;
        one.values.push_back(value);
        one.present.resize(ticks_.size(), false);
        one.present[tick] = true;
      }
    }
    journal::SampleTable table;
    for (const Tick& tick : ticks_) table.ticks.push_back(tick.unix_ns);
    for (auto& [metric, one] : series) table.series.push_back(std::move(one));
    batch_.tables = tables_of(std::move(table));
    const Status status = journal_.append_samples(batch_);
    batch_ = {};
    ticks_.clear();
    samples_ = 0;
    return status;
  }

  // In parts that a frame takes: by series, since ticks are few.
  static std::vector<journal::SampleTable> tables_of(journal::SampleTable whole) {
    const std::size_t most = std::max<std::size_t>(1, kSamplesInBatch / whole.ticks.size());
    std::vector<journal::SampleTable> parts;
    for (std::size_t first = 0; first < whole.series.size(); first += most) {
      const std::size_t end = std::min(whole.series.size(), first + most);
      journal::SampleTable& part = parts.emplace_back();
      part.ticks = whole.ticks;
      std::move(whole.series.begin() + static_cast<std::ptrdiff_t>(first),
                whole.series.begin() + static_cast<std::ptrdiff_t>(end), std::back_inserter(part.series));
    }
    return parts;
  }

  journal::JournalWriter& journal_;
  journal::SampleBatch batch_;
  std::map<std::tuple<std::string, std::string>, std::uint32_t> numbers_;
  std::array<Mean, 2> means_ = {Mean{"cpu.utilisation", ".utilisation", true, {}, {}},
                                Mean{"cpu.iowait.ratio", ".iowait.ratio", false, {}, {}}};
  std::optional<std::uint32_t> processors_;
  std::optional<Tick> tick_;
  std::uint64_t tick_number_ = 0;
  std::vector<std::uint64_t> last_tick_of_;  // by metric
  std::vector<Tick> ticks_;
  std::size_t samples_ = 0;
};

void note_time(MachineTally& tally, std::int64_t unix_ns) {
  if (tally.first_unix_ns == 0 || unix_ns < tally.first_unix_ns) tally.first_unix_ns = unix_ns;
  tally.last_unix_ns = std::max(tally.last_unix_ns, unix_ns);
}

}  // namespace

ImportedMetric imported_metric(const foreign::SmdebugSample& sample) {
  const std::string dimension = lower(sample.dimension), name = lower(sample.name);
  if (sample.type == "cpu" && dimension == "cpuutilization") {
    return {host_ratio("cpu." + number_of(name, "cpu") + ".utilisation", sample.node), kPercent};
  }
  if (dimension == "i/owaitpercentage") {
    return {host_ratio("cpu." + number_of(name, "cpu") + ".iowait.ratio", sample.node), kPercent};
  }
  if (dimension == "gpuutilization") return {device_ratio("gpu.utilisation", sample.name), kPercent};
  if (dimension == "gpumemoryutilization") return {device_ratio("gpu.memory.used.ratio", sample.name), kPercent};
  if (name == "memoryusedpercent") return {host_ratio("memory.used.ratio", sample.node), kPercent};
  Metric metric{"sagemaker." + lower(sample.type) + "." + name, "", MetricKind::kGauge, MetricSource::kHost,
                std::string(sample.node)};
  if (!dimension.empty()) metric.name += "." + dimension;
  if (sample.type == "network") {
    metric.name = "net." + name + (dimension.empty() ? "" : "-" + dimension) + ".throughput";
    metric.unit = "bytes/s";
  }
  return {metric, 1};
}

Result<MachineTally> import_machine(const storage::Storage& source, std::span<const ProfilerFile> files,
                                    journal::JournalWriter& journal) {
  MachineTally tally;
  MachineJournal machine(journal);
  for (const ProfilerFile& file : files) {
    const auto text = source.read(file.path, kMaxFileBytes);
    if (!text.ok()) {
      ++tally.unreadable_files;
      continue;
    }
    std::vector<std::pair<std::int64_t, std::pair<std::uint32_t, double>>> samples;
    const auto count = foreign::read_smdebug_samples(*text, [&](const foreign::SmdebugSample& sample) {
      const ImportedMetric imported = imported_metric(sample);
      if (const auto number = machine.number_of(imported.metric)) {
        samples.push_back({sample.unix_ns, {*number, sample.value * imported.unit}});
        note_time(tally, sample.unix_ns);
      } else {
        ++tally.left_out;
      }
    });
    tally.samples += samples.size();
    tally.damaged_lines += count.damaged;
    TRAINWARDEN_RETURN_IF_ERROR(machine.add(samples));
  }
  TRAINWARDEN_RETURN_IF_ERROR(machine.finish());
  return tally;
}

}  // namespace trainwarden::transfer
