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
    {"gpu_bandwidth", "GPU memory read or written", "%", "gpu.memory.utilisation", "", 100},
    {"gpu_sm", "multiprocessors", "%", "gpu.sm.activity", "", 100},
    {"gpu_tensor", "tensor cores", "%", "gpu.tensor.activity", "", 100},
    {"gpu_power", "power", "watts", "gpu.power", ""},
    {"gpu_temperature", "temperature", "celsius", "gpu.temperature", ""},
};

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

// As a value over time: a counter as its rate.
std::vector<Sample> values_of(const Metric& metric, std::vector<Sample> samples) {
  return metric.kind == MetricKind::kCounter ? rate_of(samples) : std::move(samples);
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

// Reads the metrics of a run, each once where several kinds want it.
class UsageReader {
 public:
  UsageReader(Trial& trial, const UsageQuestion& question)
      : trial_(trial), question_(question), metrics_(trial.metrics()) {
    std::erase_if(metrics_, [](const SampledMetric& metric) { return !trial::is_of_machine(metric); });
  }

  Status read(const UsageKind& kind, std::vector<UsageSeries>& found) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto values, sums_of(kind.of));
    std::map<Owner, std::vector<Sample>> wholes;
    const bool is_share = values.empty() && !kind.ratio.empty();
    if (is_share) {
      TRAINWARDEN_ASSIGN_OR_RETURN(values, series_of(kind.ratio));
    } else if (!kind.share_of.empty()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(wholes, series_of(kind.share_of));
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
    return {};
  }

 private:
  Result<std::map<Owner, std::vector<Sample>>> sums_of(std::string_view names) {
    const std::size_t plus = names.find('+');
    TRAINWARDEN_ASSIGN_OR_RETURN(auto sums, series_of(names.substr(0, plus)));
    if (plus == std::string_view::npos) return sums;
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto others, series_of(names.substr(plus + 1)));
    std::erase_if(sums, [&](const auto& entry) { return !others.contains(entry.first); });
    for (auto& [owner, samples] : sums) samples = sum_of(samples, others.at(owner));
    return sums;
  }

  Result<std::map<Owner, std::vector<Sample>>> series_of(std::string_view pattern) {
    std::map<Owner, std::vector<Sample>> found;
    for (const SampledMetric& metric : metrics_) {
      const auto part = part_of(metric.metric.name, pattern);
      if (!part) continue;
      TRAINWARDEN_ASSIGN_OR_RETURN(auto samples, trial_.samples(metric, question_.from_unix_ns, question_.to_unix_ns));
      found[{metric.worker, metric.metric.instance, *part}] = values_of(metric.metric, std::move(samples));
    }
    return found;
  }

  Trial& trial_;
  const UsageQuestion& question_;
  std::vector<SampledMetric> metrics_;
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

}  // namespace

std::span<const UsageKind> usage_kinds() {
  return kKinds;
}

Result<std::vector<UsageSeries>> system_usage(Trial& trial, const UsageQuestion& question) {
  TRAINWARDEN_RETURN_IF_ERROR(check_kinds(question));
  UsageReader reader(trial, question);
  std::vector<UsageSeries> found;
  for (const UsageKind& kind : kKinds) {
    if (!is_asked(kind, question)) continue;
    const std::size_t first = found.size();
    TRAINWARDEN_RETURN_IF_ERROR(reader.read(kind, found));
    std::sort(found.begin() + static_cast<std::ptrdiff_t>(first), found.end(),
              [](const UsageSeries& a, const UsageSeries& b) {
                if (a.worker != b.worker) return a.worker < b.worker;
                if (a.instance != b.instance) return a.instance < b.instance;
                return part_before(a.part, b.part);
              });
  }
  return found;
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
