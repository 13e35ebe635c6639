#include "read/profile/system_usage.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "read/profile/rates.h"
#include "read/trial/printed_metrics.h"
#include "read/trial/trial_access.h"

namespace trainwarden::profile {
namespace {

constexpr UsageKind kKinds[] = {
    {"cpu", "processors", "%", "cpu.busy", "cpu.online", 100, "cpu.utilisation"},
    {"core", "processor", "%", "cpu.*.busy", "", 100, "cpu.*.utilisation"},
    {"iowait", "waiting for disks", "%", "cpu.iowait", "cpu.online", 100, "cpu.iowait.ratio"},
    {"steal", "taken by the host", "%", "cpu.steal", "cpu.online", 100},
    {"cgroup_cpu", "processors of the container", "%", "cgroup.cpu.usage", "cgroup.cpu.quota", 100},
    {"throttled", "threads kept from running", "threads", "cgroup.cpu.throttled", ""},
    {"training_cpu", "processors in the training", "processors", "tree.cpu.user+tree.cpu.system", ""},
    {"pressure_cpu", "waiting for processors", "%", "pressure.cpu.some", "", 100},
    {"pressure_io", "waiting for disks, some task", "%", "pressure.io.some", "", 100},
    {"pressure_memory", "waiting for memory", "%", "pressure.memory.some", "", 100},
    {"memory", "memory", "%", "memory.used", "memory.total", 100, "memory.used.ratio"},
    {"cgroup_memory", "memory of the container", "%", "cgroup.memory.working_set", "cgroup.memory.limit", 100},
    {"training_memory", "memory of the training", "bytes", "tree.memory.rss", ""},
    {"swap", "swap space", "bytes", "swap.used", ""},
    {"disk_read", "read from disk", "bytes/s", "disk.*.read", ""},
    {"disk_written", "written to disk", "bytes/s", "disk.*.written", ""},
    {"disk_busy", "disk busy", "%", "disk.*.busy", "", 100},
    {"received", "received", "bytes/s", "net.*.received", ""},
    {"sent", "sent", "bytes/s", "net.*.sent", ""},
    {"network", "network", "bytes/s", "net.*.throughput", ""},
    {"gpu", "GPU", "%", "gpu.utilisation", "", 100},
    {"gpu_memory", "memory of the GPU", "%", "gpu.memory.used", "gpu.memory.total", 100, "gpu.memory.used.ratio"},
    {"gpu_memory_used", "memory of the GPU in use", "bytes", "gpu.memory.used", ""},
    {"gpu_bandwidth", "GPU memory read or written", "%", "gpu.memory.utilisation", "", 100},
    {"gpu_sm", "multiprocessors", "%", "gpu.sm.activity", "", 100},
    {"gpu_tensor", "tensor cores", "%", "gpu.tensor.activity", "", 100},
    {"gpu_power", "power", "watts", "gpu.power", ""},
    {"gpu_temperature", "temperature", "celsius", "gpu.temperature", ""},
    {"sampler", "the sampler itself, of a processor", "%", "sampler.cpu", "", 100},
};

constexpr std::size_t kMaxUsageMetrics = 8192;            // of one journal
constexpr std::size_t kFramesInOneGo = 64;                // that are read without a look at their times
constexpr std::int64_t kLengthInOneGo = 600'000'000'000;  // 10 min
constexpr double kMostGoes = 256;

// Whose series it is: worker, instance, part.
using Owner = std::tuple<std::string, std::string, std::string>;

// The part that stands for the "*" of the pattern; none when the name is not of it.
std::optional<std::string> part_of(std::string_view name, std::string_view pattern) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return name == pattern ? std::optional<std::string>("") : std::nullopt;
  const std::string_view head = pattern.substr(0, star), tail = pattern.substr(star + 1);
  if (name.size() <= head.size() + tail.size() || !name.starts_with(head) || !name.ends_with(tail)) return std::nullopt;
  return std::string(name.substr(head.size(), name.size() - head.size() - tail.size()));
}

// Adds where both have a sample at the same time.
std::vector<Sample> sum_of(const std::vector<Sample>& a, const std::vector<Sample>& b) {
  std::vector<Sample> sum;
  for (auto left = a.begin(), right = b.begin(); left != a.end() && right != b.end();) {
    if (left->unix_ns == right->unix_ns)
      sum.push_back({left->unix_ns, (left++)->value + (right++)->value});
    else if (left->unix_ns < right->unix_ns)
      ++left;
    else
      ++right;
  }
  return sum;
}

// By the last whole that is known at each time, or the first where none is known yet.
void divide_by(std::vector<Sample>& samples, const std::vector<Sample>& whole) {
  auto next = whole.begin();
  for (Sample& sample : samples) {
    while (next + 1 != whole.end() && (next + 1)->unix_ns <= sample.unix_ns) ++next;
    sample.value /= next->value;
  }
  std::erase_if(samples, [](const Sample& sample) { return !(sample.value >= 0) || sample.value > 1e18; });
}

// One metric's samples; the first `carried` of them are from before, and no value is made of them.
struct MetricSamples {
  Metric metric;
  std::string worker;
  std::vector<Sample> samples;
  std::size_t carried = 0;
};

// As a value over time: a counter as its rate.
std::vector<Sample> values_of(const MetricSamples& read) {
  if (read.metric.kind == MetricKind::kCounter) return rate_of(read.samples);
  return {read.samples.begin() + static_cast<std::ptrdiff_t>(read.carried), read.samples.end()};
}

// Makes usage of metrics.
class UsageMaker {
 public:
  explicit UsageMaker(const std::vector<MetricSamples>& metrics) : metrics_(metrics) {}

  void make(const UsageKind& kind, std::vector<UsageSeries>& found) const {
    auto values = sums_of(kind.of);
    std::map<Owner, std::vector<Sample>> wholes;
    const bool is_share = values.empty() && !kind.ratio.empty();
    if (is_share) {
      values = series_of(kind.ratio);
    } else if (!kind.share_of.empty()) {
      wholes = series_of(kind.share_of, true);
    }
    for (auto& [owner, samples] : values) {
      const auto& [worker, instance, part] = owner;
      if (!is_share && !kind.share_of.empty()) {
        const auto whole = wholes.find({worker, instance, ""});
        if (whole == wholes.end() || whole->second.empty()) continue;
        divide_by(samples, whole->second);
      }
      // Kernels count processor time in ticks of theirs: a stretch of ours may hold one too many.
      const double most = kind.unit == "%" ? 100 : std::numeric_limits<double>::infinity();
      for (Sample& sample : samples) sample.value = std::min(sample.value * kind.scale, most);
      if (!samples.empty()) found.push_back({&kind, part, instance, worker, std::move(samples)});
    }
  }

 private:
  std::map<Owner, std::vector<Sample>> sums_of(std::string_view names) const {
    const std::size_t plus = names.find('+');
    auto sums = series_of(names.substr(0, plus));
    if (plus == std::string_view::npos) return sums;
    const auto others = series_of(names.substr(plus + 1));
    std::erase_if(sums, [&](const auto& entry) { return !others.contains(entry.first); });
    for (auto& [owner, samples] : sums) samples = sum_of(samples, others.at(owner));
    return sums;
  }

  std::map<Owner, std::vector<Sample>> series_of(std::string_view pattern, bool with_carried = false) const {
    std::map<Owner, std::vector<Sample>> found;
    for (const MetricSamples& read : metrics_) {
      const auto part = part_of(read.metric.name, pattern);
      if (!part) continue;
      found[{read.worker, read.metric.instance, *part}] = with_carried ? read.samples : values_of(read);
    }
    return found;
  }

  const std::vector<MetricSamples>& metrics_;
};

bool is_asked(const UsageKind& kind, const UsageQuestion& question) {
  if (!question.parts && kind.of.find('*') != std::string_view::npos) return false;
  return question.kinds.empty() ||
         std::find(question.kinds.begin(), question.kinds.end(), kind.name) != question.kinds.end();
}

Status check_kinds(const UsageQuestion& question) {
  for (const std::string& name : question.kinds) {
    const bool known =
        std::any_of(std::begin(kKinds), std::end(kKinds), [&](const UsageKind& kind) { return kind.name == name; });
    if (known) continue;
    std::vector<std::string_view> names;
    for (const UsageKind& kind : kKinds) names.push_back(kind.name);
    return Status(Code::kInvalidArgument,
                  fmt::format("expected one of {}, found \"{}\"", fmt::join(names, ", "), printable(name)));
  }
  return {};
}

// "2" before "10", and both before "sda".
bool part_before(const std::string& a, const std::string& b) {
  const auto left = parse_int(a), right = parse_int(b);
  if (left && right) return *left < *right;
  return left.has_value() != right.has_value() ? left.has_value() : a < b;
}

bool sampled_before(const Sample& a, const Sample& b) {
  return a.unix_ns < b.unix_ns;
}

bool is_of_any(const Metric& metric, std::span<const UsageKind* const> kinds) {
  return std::any_of(kinds.begin(), kinds.end(), [&](const UsageKind* kind) {
    const std::size_t plus = kind->of.find('+');
    return part_of(metric.name, kind->of.substr(0, plus)) ||
           (plus != std::string_view::npos && part_of(metric.name, kind->of.substr(plus + 1))) ||
           (!kind->share_of.empty() && part_of(metric.name, kind->share_of)) ||
           (!kind->ratio.empty() && part_of(metric.name, kind->ratio));
  });
}

// What the kinds are made of, in one pass over the journal's frames.
Status read_metrics(trial::SampledJournal& journal, std::span<const UsageKind* const> kinds, journal::SampleQuery query,
                    std::vector<MetricSamples>& metrics) {
  std::map<std::uint32_t, std::size_t> place;  // by the journal's index
  const auto all = journal.reader().metrics();
  for (std::uint32_t i = 0; i < all.size() && place.size() < kMaxUsageMetrics; ++i) {
    if (!trial::is_of_machine({all[i], journal.name()}) || !is_of_any(all[i], kinds)) continue;
    place.emplace(i, metrics.size());
    query.metrics.push_back(i);
    metrics.push_back({all[i], journal.name(), {}, 0});
  }
  if (query.metrics.empty()) return {};
  TRAINWARDEN_RETURN_IF_ERROR(journal.reader().samples(query, [&](const journal::SampleChunk& chunk) {
    std::vector<Sample>& samples = metrics[place.at(chunk.metric)].samples;
    samples.insert(samples.end(), chunk.samples.begin(), chunk.samples.end());
  }));
  // Only where the clock of the machine was set back do frames overlap.
  for (const auto& [index, at] : place) {
    std::vector<Sample>& samples = metrics[at].samples;
    if (!std::is_sorted(samples.begin(), samples.end(), sampled_before)) {
      std::stable_sort(samples.begin(), samples.end(), sampled_before);
    }
  }
  return {};
}

std::vector<UsageSeries> make_usage(const std::vector<MetricSamples>& metrics,
                                    std::span<const UsageKind* const> kinds) {
  const UsageMaker maker(metrics);
  std::vector<UsageSeries> found;
  for (const UsageKind* const kind : kinds) {
    const std::size_t first = found.size();
    maker.make(*kind, found);
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
              [](const UsageSeries& a, const UsageSeries& b) {
                if (a.worker != b.worker) return a.worker < b.worker;
                if (a.instance != b.instance) return a.instance < b.instance;
                return part_before(a.part, b.part);
              });
  }
  return found;
}

}  // namespace

std::span<const UsageKind> usage_kinds() {
  return kKinds;
}

Result<std::vector<UsageSeries>> system_usage(Trial& trial, const UsageQuestion& question) {
  TRAINWARDEN_RETURN_IF_ERROR(check_kinds(question));
  std::vector<const UsageKind*> kinds;
  for (const UsageKind& kind : kKinds) {
    if (is_asked(kind, question)) kinds.push_back(&kind);
  }
  std::vector<MetricSamples> metrics;
  for (trial::SampledJournal* const journal : TrialAccess::steadily_sampled(trial)) {
    if (!journal->readable()) continue;
    journal::SampleQuery query;
    query.from_unix_ns = question.from_unix_ns;
    query.to_unix_ns = question.to_unix_ns;
    TRAINWARDEN_RETURN_IF_ERROR(read_metrics(*journal, kinds, query, metrics));
  }
  return make_usage(metrics, kinds);
}

std::size_t merge_machines(std::vector<UsageSeries>& usage) {
  using Place = std::tuple<const UsageKind*, std::string, std::string>;
  std::map<Place, std::size_t> first;
  std::vector<UsageSeries> merged;
  for (UsageSeries& series : usage) {
    const auto [known, is_new] = first.try_emplace({series.kind, series.instance, series.part}, merged.size());
    if (is_new) {
      merged.push_back(std::move(series));
      continue;
    }
    std::vector<Sample>& all = merged[known->second].samples;
    const std::int64_t begin = all.front().unix_ns, end = all.back().unix_ns;
    for (const Sample& sample : series.samples) {
      if (sample.unix_ns < begin || sample.unix_ns > end) all.push_back(sample);
    }
    std::stable_sort(all.begin(), all.end(), sampled_before);
  }
  const std::size_t twice = usage.size() - merged.size();
  usage = std::move(merged);
  return twice;
}

Status UsageFollower::refresh(Trial& trial, const UsageVisitor& visit) {
  std::vector<const UsageKind*> kinds;
  for (const UsageKind& kind : kKinds) kinds.push_back(&kind);
  for (trial::SampledJournal* const journal : TrialAccess::steadily_sampled(trial)) {
    if (!journal->readable()) continue;
    Followed& followed = journals_[journal->name()];
    const std::size_t frames = journal->reader().sample_frames();
    if (frames == followed.frames) continue;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto times, journal->reader().sample_times());
    const bool is_short = frames - followed.frames <= kFramesInOneGo || !times;
    const std::int64_t from = is_short ? std::numeric_limits<std::int64_t>::min() : times->first_unix_ns;
    const std::int64_t to = is_short ? std::numeric_limits<std::int64_t>::max() : times->last_unix_ns;
    const std::int64_t length =
        is_short
            ? to
            : std::max(kLengthInOneGo,
                       static_cast<std::int64_t>((static_cast<double>(to) - static_cast<double>(from)) / kMostGoes));
    for (std::int64_t begin = from; begin < to || begin == from;) {
      const bool is_last = is_short || to - begin < length || begin > to - length;
      journal::SampleQuery query;
      query.first_frame = followed.frames;
      query.from_unix_ns = begin;
      query.to_unix_ns = is_last ? std::numeric_limits<std::int64_t>::max() : begin + length;
      TRAINWARDEN_RETURN_IF_ERROR(read_on(*journal, kinds, query, followed, visit));
      if (is_last) break;
      begin += length;
    }
    followed.frames = frames;
  }
  return {};
}

Status UsageFollower::read_on(trial::SampledJournal& journal, std::span<const UsageKind* const> kinds,
                              const journal::SampleQuery& query, Followed& followed, const UsageVisitor& visit) {
  std::vector<MetricSamples> metrics;
  TRAINWARDEN_RETURN_IF_ERROR(read_metrics(journal, kinds, query, metrics));
  for (MetricSamples& read : metrics) {
    const auto key = std::tuple(read.metric.name, static_cast<int>(read.metric.source), read.metric.instance);
    const auto last = followed.last.find(key);
    if (last != followed.last.end()) {
      std::erase_if(read.samples, [&](const Sample& sample) { return sample.unix_ns <= last->second.unix_ns; });
      read.samples.insert(read.samples.begin(), last->second);
      read.carried = 1;
    }
    if (!read.samples.empty()) followed.last[key] = read.samples.back();
  }
  // A whole that is read rarely may have no sample among the new ones.
  for (const UsageSeries& series : make_usage(metrics, kinds)) visit(series);
  return {};
}

std::vector<Sample> means_of(std::span<const Sample> samples, std::int64_t from_unix_ns, std::int64_t to_unix_ns,
                             std::size_t count) {
  std::vector<Sample> means;
  if (to_unix_ns <= from_unix_ns || count == 0) return means;
  const double length = static_cast<double>(to_unix_ns - from_unix_ns) / static_cast<double>(count);
  const auto edge = [&](std::size_t number) {
    return from_unix_ns + static_cast<std::int64_t>(length * static_cast<double>(number));
  };
  for (std::size_t i = 0; i < count; ++i) {
    const auto part = between(samples, edge(i), i + 1 == count ? to_unix_ns : edge(i + 1));
    if (part.empty()) continue;
    double sum = 0;
    for (const Sample& sample : part) sum += sample.value;
    means.push_back({edge(i) + static_cast<std::int64_t>(length / 2), sum / static_cast<double>(part.size())});
  }
  return means;
}

}  // namespace trainwarden::profile
