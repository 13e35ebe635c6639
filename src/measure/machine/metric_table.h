// The one table of the metrics that probes measure: name, unit, kind, source, what they mean, where they are from.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "measure/machine/reading.h"
#include "trainwarden/metric.h"

namespace trainwarden::machine {

struct MetricDescription {
  std::string_view name;  // with "*" for what differs: which processor, disk, interface
  std::string_view unit;
  MetricKind kind;
  MetricSource source;
  std::string_view from;  // the file below the machine's root, or the library's function
  std::string_view means;
};

std::span<const MetricDescription> metric_table();
// As it is in docs/reference/metrics.md.
std::string metric_table_markdown();

// The metric of a row; `part` is in place of the "*".
Metric metric_of(const MetricDescription& row, std::string_view part, const std::string& instance);

namespace metric_rows {
inline constexpr MetricKind kGauge = MetricKind::kGauge, kCounter = MetricKind::kCounter, kRatio = MetricKind::kRatio;
inline constexpr MetricSource kHost = MetricSource::kHost, kProcess = MetricSource::kProcess,
                              kDevice = MetricSource::kDevice;
inline constexpr std::string_view kGroups = "sys/fs/cgroup";

inline constexpr MetricDescription kAll[] = {
    {"cpu.busy", "seconds", kCounter, kHost, "proc/stat", "all processors: neither idle nor waiting for disks"},
    {"cpu.user", "seconds", kCounter, kHost, "proc/stat", "in programs, guests of virtual machines among them"},
    {"cpu.system", "seconds", kCounter, kHost, "proc/stat", "in the kernel, interrupts included"},
    {"cpu.iowait", "seconds", kCounter, kHost, "proc/stat", "idle while a process waited for a disk"},
    {"cpu.steal", "seconds", kCounter, kHost, "proc/stat", "wanted, and given to other virtual machines"},
    {"cpu.*.busy", "seconds", kCounter, kHost, "proc/stat", "as cpu.busy, of one processor"},
    {"cpu.*.user", "seconds", kCounter, kHost, "proc/stat", "as cpu.user, of one processor"},
    {"cpu.*.system", "seconds", kCounter, kHost, "proc/stat", "as cpu.system, of one processor"},
    {"cpu.*.iowait", "seconds", kCounter, kHost, "proc/stat", "as cpu.iowait, of one processor"},
    {"cpu.*.steal", "seconds", kCounter, kHost, "proc/stat", "as cpu.steal, of one processor"},
    {"cpu.online", "", kGauge, kHost, "proc/stat", "processors of the machine that are on"},
    {"cpu.effective", "", kGauge, kHost, "proc/PID/status",
     "processors that the training can use: the least of those that are on, its affinity, and its groups' quota"},
    {"load.1m", "", kGauge, kHost, "proc/loadavg",
     "threads that run, want to run or wait for a disk: mean of a minute"},
    {"queue.running", "", kGauge, kHost, "proc/stat", "threads that run or want to"},
    {"queue.blocked", "", kGauge, kHost, "proc/stat", "threads that wait for a disk"},
    {"memory.total", "bytes", kGauge, kHost, "proc/meminfo", "the machine's memory"},
    {"memory.available", "bytes", kGauge, kHost, "proc/meminfo", "what programs could have without swapping"},
    {"memory.used", "bytes", kGauge, kHost, "proc/meminfo", "total less available"},
    {"memory.cached", "bytes", kGauge, kHost, "proc/meminfo", "contents of files, shared memory among them"},
    {"swap.total", "bytes", kGauge, kHost, "proc/meminfo", "swap space"},
    {"swap.used", "bytes", kGauge, kHost, "proc/meminfo", "of it, in use"},
    {"paging.major_faults", "", kCounter, kHost, "proc/vmstat", "pages that a program had to wait for a disk for"},
    {"paging.swapped_in", "bytes", kCounter, kHost, "proc/vmstat", "from swap space"},
    {"paging.swapped_out", "bytes", kCounter, kHost, "proc/vmstat", "to swap space"},
    {"paging.oom_kills", "", kCounter, kHost, "proc/vmstat", "processes killed for want of memory"},
    {"disk.*.read", "bytes", kCounter, kHost, "proc/diskstats",
     "from a whole disk; partitions and what stands for other disks are left out"},
    {"disk.*.written", "bytes", kCounter, kHost, "proc/diskstats", "to it"},
    {"disk.*.reads", "", kCounter, kHost, "proc/diskstats", "requests to read that ended"},
    {"disk.*.writes", "", kCounter, kHost, "proc/diskstats", "requests to write that ended"},
    {"disk.*.busy", "seconds", kCounter, kHost, "proc/diskstats", "with at least one request under way"},
    {"disk.*.waited", "seconds", kCounter, kHost, "proc/diskstats",
     "what reads and writes took, added up: by their number, the mean wait"},
    {"net.*.received", "bytes", kCounter, kHost, "proc/net/dev", "by an interface that our network namespace has"},
    {"net.*.sent", "bytes", kCounter, kHost, "proc/net/dev", "by it"},
    {"net.*.receive_errors", "", kCounter, kHost, "proc/net/dev", "packets that came broken"},
    {"net.*.send_errors", "", kCounter, kHost, "proc/net/dev", "packets that could not be sent"},
    {"rdma.*.received", "bytes", kCounter, kHost, "sys/class/infiniband", "by a port of an adapter, as mlx5_0.1"},
    {"rdma.*.sent", "bytes", kCounter, kHost, "sys/class/infiniband", "by it"},
    {"pressure.cpu.some", "seconds", kCounter, kHost, "proc/pressure/cpu", "at least one task waited for a processor"},
    {"pressure.cpu.full", "seconds", kCounter, kHost, "proc/pressure/cpu", "all tasks did; 0 of a whole machine"},
    {"pressure.io.some", "seconds", kCounter, kHost, "proc/pressure/io", "at least one waited for a disk"},
    {"pressure.io.full", "seconds", kCounter, kHost, "proc/pressure/io", "all that were not idle did"},
    {"pressure.memory.some", "seconds", kCounter, kHost, "proc/pressure/memory", "at least one waited for memory"},
    {"pressure.memory.full", "seconds", kCounter, kHost, "proc/pressure/memory", "all that were not idle did"},
    {"cgroup.cpu.usage", "seconds", kCounter, kHost, kGroups, "processor time of the control group"},
    {"cgroup.cpu.quota", "", kGauge, kHost, kGroups, "how many processors it may use"},
    {"cgroup.cpu.periods", "", kCounter, kHost, kGroups, "periods of the quota in which it ran"},
    {"cgroup.cpu.throttled_periods", "", kCounter, kHost, kGroups, "of these, with the quota used up"},
    {"cgroup.cpu.throttled", "seconds", kCounter, kHost, kGroups, "its threads were kept from running, added up"},
    {"cgroup.memory.current", "bytes", kGauge, kHost, kGroups, "all that is charged to it, contents of files too"},
    {"cgroup.memory.working_set", "bytes", kGauge, kHost, kGroups, "less files that have not been used of late"},
    {"cgroup.memory.limit", "bytes", kGauge, kHost, kGroups, "what it may have"},
    {"cgroup.memory.oom_kills", "", kCounter, kHost, kGroups, "its processes that were killed for want of memory"},
    {"cgroup.io.read", "bytes", kCounter, kHost, kGroups, "from disks"},
    {"cgroup.io.written", "bytes", kCounter, kHost, kGroups, "to disks"},
    {"cgroup.pressure.cpu.some", "seconds", kCounter, kHost, kGroups, "as pressure.cpu.some, of the group alone"},
    {"cgroup.pressure.cpu.full", "seconds", kCounter, kHost, kGroups, "as pressure.cpu.full, of the group alone"},
    {"cgroup.pressure.io.some", "seconds", kCounter, kHost, kGroups, "as pressure.io.some, of the group alone"},
    {"cgroup.pressure.io.full", "seconds", kCounter, kHost, kGroups, "as pressure.io.full, of the group alone"},
    {"cgroup.pressure.memory.some", "seconds", kCounter, kHost, kGroups, "as pressure.memory.some, of the group alone"},
    {"cgroup.pressure.memory.full", "seconds", kCounter, kHost, kGroups, "as pressure.memory.full, of the group alone"},
    {"tree.processes", "", kGauge, kHost, "proc", "processes of the training that live"},
    {"tree.cpu.user", "seconds", kCounter, kHost, "proc/PID/stat", "all of them in programs, those that ended too"},
    {"tree.cpu.system", "seconds", kCounter, kHost, "proc/PID/stat", "all of them in the kernel, those that ended too"},
    {"tree.memory.rss", "bytes", kGauge, kHost, "proc/PID/status", "in memory; what they share counts for each"},
    {"tree.memory.anonymous", "bytes", kGauge, kHost, "proc/PID/status", "of it, neither of files nor shared"},
    {"tree.threads", "", kGauge, kHost, "proc/PID/stat", "their threads"},
    {"tree.io.read", "bytes", kCounter, kHost, "proc/PID/io", "from disks, those that ended too"},
    {"tree.io.written", "bytes", kCounter, kHost, "proc/PID/io", "to disks, those that ended too"},
    {"process.cpu.user", "seconds", kCounter, kProcess, "proc/PID/stat", "of one process, all threads, in programs"},
    {"process.cpu.system", "seconds", kCounter, kProcess, "proc/PID/stat", "in the kernel"},
    {"process.memory.rss", "bytes", kGauge, kProcess, "proc/PID/status", "in memory, shared pages included"},
    {"process.memory.anonymous", "bytes", kGauge, kProcess, "proc/PID/status", "of it, neither of files nor shared"},
    {"process.threads", "", kGauge, kProcess, "proc/PID/stat", "its threads"},
    {"process.io.read", "bytes", kCounter, kProcess, "proc/PID/io", "from disks"},
    {"process.io.written", "bytes", kCounter, kProcess, "proc/PID/io", "to disks"},
    {"process.cpu.waited", "seconds", kCounter, kProcess, "proc/PID/schedstat",
     "its first thread wanted to run, and another ran"},
    {"process.switches.voluntary", "", kCounter, kProcess, "proc/PID/status",
     "its first thread gave the processor back"},
    {"process.switches.involuntary", "", kCounter, kProcess, "proc/PID/status", "it was taken from its first thread"},
    {"gpu.utilisation", "", kRatio, kDevice, "nvmlDeviceGetUtilizationRates",
     "of the driver's last window (up to a second), with a kernel running"},
    {"gpu.memory.utilisation", "", kRatio, kDevice, "nvmlDeviceGetUtilizationRates",
     "of the same, with its memory read or written"},
    {"gpu.memory.total", "bytes", kGauge, kDevice, "nvmlDeviceGetMemoryInfo", "memory"},
    {"gpu.memory.used", "bytes", kGauge, kDevice, "nvmlDeviceGetMemoryInfo", "of it in use, the driver's own part too"},
    {"gpu.power", "watts", kGauge, kDevice, "nvmlDeviceGetPowerUsage", "drawn; on newer GPUs the mean of a second"},
    {"gpu.power.limit", "watts", kGauge, kDevice, "nvmlDeviceGetEnforcedPowerLimit", "what it is held to"},
    {"gpu.energy", "joules", kCounter, kDevice, "nvmlDeviceGetTotalEnergyConsumption", "since the driver was loaded"},
    {"gpu.temperature", "celsius", kGauge, kDevice, "nvmlDeviceGetTemperature", "of the chip"},
    {"gpu.clock.sm", "hertz", kGauge, kDevice, "nvmlDeviceGetClockInfo", "of the multiprocessors"},
    {"gpu.clock.memory", "hertz", kGauge, kDevice, "nvmlDeviceGetClockInfo", "of the memory"},
    {"gpu.throttled.power_cap", "", kGauge, kDevice, "nvmlDeviceGetCurrentClocksEventReasons",
     "1: slower for its power limit; else 0"},
    {"gpu.throttled.hardware", "", kGauge, kDevice, "nvmlDeviceGetCurrentClocksEventReasons",
     "1: the hardware slows it down"},
    {"gpu.throttled.thermal_software", "", kGauge, kDevice, "nvmlDeviceGetCurrentClocksEventReasons",
     "1: the driver does, too hot"},
    {"gpu.throttled.thermal_hardware", "", kGauge, kDevice, "nvmlDeviceGetCurrentClocksEventReasons",
     "1: the hardware does, too hot"},
    {"gpu.throttled.power_brake", "", kGauge, kDevice, "nvmlDeviceGetCurrentClocksEventReasons",
     "1: the machine's power supply asks for it"},
    {"gpu.pcie.sent", "bytes", kCounter, kDevice, "nvmlDeviceGetFieldValues", "over PCIe, by the GPU"},
    {"gpu.pcie.received", "bytes", kCounter, kDevice, "nvmlDeviceGetFieldValues", "over PCIe, by the GPU"},
    {"gpu.pcie.generation", "", kGauge, kDevice, "nvmlDeviceGetCurrPcieLinkGeneration",
     "of the link now; it falls while idle"},
    {"gpu.pcie.generation.max", "", kGauge, kDevice, "nvmlDeviceGetMaxPcieLinkGeneration", "that GPU and machine can"},
    {"gpu.pcie.width", "", kGauge, kDevice, "nvmlDeviceGetCurrPcieLinkWidth", "lanes of the link now"},
    {"gpu.pcie.width.max", "", kGauge, kDevice, "nvmlDeviceGetMaxPcieLinkWidth", "that GPU and machine can"},
    {"gpu.nvlink.sent", "bytes", kCounter, kDevice, "nvmlDeviceGetFieldValues",
     "over all its NVLinks, without headers"},
    {"gpu.nvlink.received", "bytes", kCounter, kDevice, "nvmlDeviceGetFieldValues",
     "over all its NVLinks, without headers"},
    {"gpu.ecc.corrected", "", kCounter, kDevice, "nvmlDeviceGetTotalEccErrors",
     "errors of memory since the driver was loaded that were corrected"},
    {"gpu.ecc.uncorrected", "", kCounter, kDevice, "nvmlDeviceGetTotalEccErrors", "those that could not be corrected"},
    {"gpu.xid.events", "", kCounter, kDevice, "nvmlEventSetWait_v2",
     "critical errors that the driver reported while we looked"},
    {"gpu.xid.last", "", kGauge, kDevice, "nvmlEventSetWait_v2", "the XID of the last; missing before the first"},
    {"gpu.sm.activity", "", kRatio, kDevice, "nvmlGpmMetricsGet",
     "of time and multiprocessors, with a warp, since the last tick"},
    {"gpu.sm.occupancy", "", kRatio, kDevice, "nvmlGpmMetricsGet", "of the warps that there is room for"},
    {"gpu.tensor.activity", "", kRatio, kDevice, "nvmlGpmMetricsGet", "tensor cores at work"},
    {"gpu.dram.activity", "", kRatio, kDevice, "nvmlGpmMetricsGet", "of the memory's bandwidth"},
};
}  // namespace metric_rows

// A row by its name, found by the compiler: a name that is not in the table does not compile.
class Known {
 public:
  consteval Known(const char* name) : row_(find(name)) {}
  constexpr const MetricDescription& row() const { return metric_rows::kAll[row_]; }

 private:
  static consteval std::size_t find(std::string_view name) {
    for (std::size_t row = 0; row < std::size(metric_rows::kAll); ++row) {
      if (metric_rows::kAll[row].name == name) return row;
    }
    throw "no such metric in the table";
  }
  std::size_t row_;
};

// So many parts make a unit: a million microseconds a second. A number is divided by it, and not multiplied by its
// inverse, which no double is: what was whole in parts has few decimals, and little room on disk (samples_record.h).
struct Per {
  double parts;
};
inline constexpr Per kMilliseconds{1e3}, kMicroseconds{1e6}, kNanoseconds{1e9};

// The metrics of one thing (a disk, a process): each gets its number when it first has a value, so that what the
// machine has not is no metric.
class MetricSet {
 public:
  MetricSet(std::string part, std::string instance) : part_(std::move(part)), instance_(std::move(instance)) {}
  explicit MetricSet(std::string instance) : MetricSet("", std::move(instance)) {}

  const std::string& part() const { return part_; }
  void set(Reading& reading, Known known, double value);
  template <class Number>
  void set_if(Reading& reading, Known known, const std::optional<Number>& value, double unit = 1) {
    if (value) set(reading, known, static_cast<double>(*value) * unit);
  }
  template <class Number>
  void set_if(Reading& reading, Known known, const std::optional<Number>& value, Per unit) {
    if (value) set(reading, known, static_cast<double>(*value) / unit.parts);
  }

 private:
  struct Entry {
    const MetricDescription* row;
    std::uint32_t id;
  };
  std::string part_;
  std::string instance_;
  std::vector<Entry> entries_;  // few: a thing has ten metrics or so
};

// The things of a kind that are found by name as a file lists them: processors, disks. `limit` at most.
class NamedSets {
 public:
  NamedSets(std::string instance, std::size_t limit) : instance_(std::move(instance)), limit_(limit) {}
  // Null when there are too many. A file lists them in the same order again: the next is looked at first.
  MetricSet* find(std::string_view part);

 private:
  std::string instance_;
  std::size_t limit_;
  std::size_t next_ = 0;
  std::vector<MetricSet> sets_;
  std::unordered_map<std::string, std::size_t> indexes_;  // in sets_, by part
};

}  // namespace trainwarden::machine
