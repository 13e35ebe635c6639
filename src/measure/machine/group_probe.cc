#include "measure/machine/group_probe.h"

#include <algorithm>
#include <array>
#include <utility>

#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kCountEvery = 10;  // looks, until processors are counted again
constexpr std::uint64_t kLimitsEvery = 2;  // looks
constexpr std::size_t kMaxStacked = 4096;
constexpr int kMaxListed = 1 << 16;
// Version 1 has no word for "no limit": it is the greatest number of bytes in whole pages, whatever a page is.
constexpr double kNoLimitBytes = 4.6e18;

std::optional<std::uint64_t> number_in(KernelFile& file, FileBuffer& buffer) {
  const auto text = file.read(buffer);
  return text ? only_number(*text) : std::nullopt;
}

// Adds what is behind "rbytes=" to `sum`.
void add_word(std::string_view word, std::string_view key, double& sum) {
  if (!word.starts_with(key)) return;
  sum += static_cast<double>(to_number(word.substr(key.size())).value_or(0));
}

template <class T>
std::optional<T> smaller_of(std::optional<T> a, std::optional<T> b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

// The folder with the least limit, the inmost of several; the inmost of all where none has one. `look` turns to a
// folder and gives its limit; it has turned to the result at last.
template <class Look>
const fs::path& look_for_tightest(const GroupFolders& folders, const Look& look) {
  const fs::path* tightest = &folders.front();
  std::optional<double> least;
  for (const fs::path& folder : folders) {
    const std::optional<double> limit = look(folder);
    if (!limit || (least && *limit >= *least)) continue;
    least = limit;
    tightest = &folder;
  }
  look(*tightest);
  return *tightest;
}

}  // namespace

std::optional<std::string> process_of_training(const HostPlan& plan) {
  if (!plan.roots) return "self";
  for (const pid_t root : plan.roots()) {
    std::string id = std::to_string(root);
    if (root > 0 && KernelFile(plan.root / "proc" / id / "cgroup").is_there()) return id;
  }
  return std::nullopt;
}

std::optional<double> parse_cpu_max(std::string_view text) {
  auto line = next_line(text);
  if (!line) return std::nullopt;
  const auto quota = next_number(*line);
  const auto period = next_number(*line);
  if (!quota || !period || *period == 0) return std::nullopt;
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

// "8:0 rbytes=1 wbytes=2 rios=3 ..."
GroupIo parse_io_stat(std::string_view text, const StandsForOthers& stands_for_others) {
  GroupIo io;
  while (auto line = next_line(text)) {
    if (stands_for_others(next_word(*line))) continue;
    for (std::string_view word = next_word(*line); !word.empty(); word = next_word(*line)) {
      add_word(word, "rbytes=", io.read_bytes);
      add_word(word, "wbytes=", io.written_bytes);
    }
  }
  return io;
}

// "8:0 Read 1", and at the end "Total 12".
GroupIo parse_service_bytes(std::string_view text, const StandsForOthers& stands_for_others) {
  GroupIo io;
  while (auto line = next_line(text)) {
    const std::string_view device = next_word(*line);
    const std::string_view what = next_word(*line);
    const auto bytes = static_cast<double>(next_number(*line).value_or(0));
    if ((what != "Read" && what != "Write") || stands_for_others(device)) continue;
    (what == "Read" ? io.read_bytes : io.written_bytes) += bytes;
  }
  return io;
}

std::optional<int> count_of_list(std::string_view list) {
  int count = 0;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(','), list.size());
    const std::string_view range = list.substr(0, end);
    const std::size_t dash = range.find('-');
    const auto first = to_number(range.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : to_number(range.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= kMaxListed) return std::nullopt;
    count += static_cast<int>(*last - *first) + 1;
    if (count > kMaxListed) return std::nullopt;
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return count > 0 ? std::optional(count) : std::nullopt;
}

// Partitions' folders have none of these, and their disks are what is counted.
bool GroupProbe::stands_for_others(std::string_view device) {
  if (const auto known = stacked_.find(device); known != stacked_.end()) return known->second;
  const std::size_t colon = device.find(':');
  const bool number =
      colon != std::string_view::npos && to_number(device.substr(0, colon)) && to_number(device.substr(colon + 1));
  if (!number || stacked_.size() >= kMaxStacked) return !number;
  const fs::path folder = plan_.root / "sys/dev/block" / device;
  constexpr std::array kMarks = {"dm", "md", "loop", "mem_used_total", "mm_stat"};
  const bool stacked = device.starts_with("1:") || std::any_of(kMarks.begin(), kMarks.end(), [&](const char* mark) {
                         return KernelFile(folder / mark).is_there();
                       });
  return stacked_.emplace(device, stacked).first->second;
}

void GroupProbe::find(const std::string& id) {
  found_ = true;
  groups_ = find_control_groups(plan_.root, id, buffer_);
  online_ = KernelFile(plan_.root / "sys/devices/system/cpu/online");
  status_ = KernelFile(plan_.root / "proc" / id / "status");
  if (!groups_.cpu_usage.folders.empty()) {
    usage_ =
        KernelFile(groups_.cpu_usage.folders.front() / (groups_.cpu_usage.version == 2 ? "cpu.stat" : "cpuacct.usage"));
  }
  find_quota(groups_.cpu);
  find_memory(groups_.memory);
  if (!groups_.io.folders.empty()) {
    io_ = KernelFile(groups_.io.folders.front() /
                     (groups_.io.version == 2 ? "io.stat" : "blkio.throttle.io_service_bytes"));
  }
  if (groups_.pressure.empty()) return;
  const fs::path& own = groups_.pressure.front();
  pressure_.push_back(PressureFile(own / "cpu.pressure", "cgroup.pressure.cpu.some", "cgroup.pressure.cpu.full"));
  pressure_.push_back(PressureFile(own / "io.pressure", "cgroup.pressure.io.some", "cgroup.pressure.io.full"));
  pressure_.push_back(
      PressureFile(own / "memory.pressure", "cgroup.pressure.memory.some", "cgroup.pressure.memory.full"));
}

void GroupProbe::find_quota(const ControlGroups::Hierarchy& hierarchy) {
  if (hierarchy.folders.empty()) return;
  const auto look = [&](const fs::path& folder) {
    quota_ = KernelFile(folder / (hierarchy.version == 2 ? "cpu.max" : "cpu.cfs_quota_us"));
    period_ = hierarchy.version == 2 ? KernelFile() : KernelFile(folder / "cpu.cfs_period_us");
    return quota();
  };
  const fs::path& tightest = look_for_tightest(hierarchy.folders, look);
  const bool is_usage = groups_.cpu_usage.version == 2 && tightest == groups_.cpu_usage.folders.front();
  throttling_ = is_usage ? KernelFile() : KernelFile(tightest / "cpu.stat");
}

void GroupProbe::find_memory(const ControlGroups::Hierarchy& hierarchy) {
  if (hierarchy.folders.empty()) return;
  const bool second = hierarchy.version == 2;
  const auto look = [&](const fs::path& folder) {
    memory_limit_ = KernelFile(folder / (second ? "memory.max" : "memory.limit_in_bytes"));
    return memory_limit();
  };
  const fs::path& tightest = look_for_tightest(hierarchy.folders, look);
  memory_current_ = KernelFile(tightest / (second ? "memory.current" : "memory.usage_in_bytes"));
  memory_stat_ = KernelFile(tightest / "memory.stat");
  memory_events_ = KernelFile(tightest / (second ? "memory.events" : "memory.oom_control"));
}

std::optional<double> GroupProbe::quota() {
  const auto text = quota_.read(buffer_);
  if (!text) return std::nullopt;
  if (groups_.cpu.version == 2) return parse_cpu_max(*text);
  const auto quota_us = only_number(*text);  // "-1": none
  const auto period_us = number_in(period_, buffer_);
  if (!quota_us || !period_us || *period_us == 0) return std::nullopt;
  return static_cast<double>(*quota_us) / static_cast<double>(*period_us);
}

std::optional<double> GroupProbe::memory_limit() {
  const auto bytes = number_in(memory_limit_, buffer_);  // "max": none
  if (!bytes || static_cast<double>(*bytes) >= kNoLimitBytes) return std::nullopt;
  return static_cast<double>(*bytes);
}

void GroupProbe::read(Reading& reading) {
  if (!found_) {
    const auto id = process_of_training(plan_);
    if (!id) return;
    find(*id);
  }
  if (looks_ % kCountEvery == 0) count_processors();
  read_cpu(reading);
  if (looks_ % kLimitsEvery == 0) read_limits(reading);
  read_memory(reading);
  ++looks_;
  read_io(reading);
  for (PressureFile& file : pressure_) file.read(buffer_, set_, reading);
}

void GroupProbe::count_processors() {
  std::optional<int> online;
  if (const auto text = online_.read_once(buffer_)) {
    std::string_view rest = *text;
    online = count_of_list(nth_word(next_line(rest).value_or(""), 0));
  }
  std::optional<int> allowed;
  if (const auto text = status_.read_once(buffer_)) {
    std::string_view rest = *text;
    while (auto line = next_line(rest)) {
      if (next_word(*line) == "Cpus_allowed_list:") allowed = count_of_list(next_word(*line));
    }
  }
  processors_ = smaller_of(online, allowed);
}

void GroupProbe::read_limits(Reading& reading) {
  const auto quota_now = quota();
  set_.set_if(reading, "cgroup.cpu.quota", quota_now);
  set_.set_if(reading, "cpu.effective",
              smaller_of(quota_now, processors_ ? std::optional<double>(*processors_) : std::nullopt));
  set_.set_if(reading, "cgroup.memory.limit", memory_limit());
  if (const auto text = memory_events_.read(buffer_)) {
    set_.set_if(reading, "cgroup.memory.oom_kills", number_behind(*text, "oom_kill"));
  }
}

void GroupProbe::read_cpu(Reading& reading) {
  if (const auto text = usage_.read(buffer_)) {
    if (groups_.cpu_usage.version == 2) {
      set_.set_if(reading, "cgroup.cpu.usage", number_behind(*text, "usage_usec"), kMicroseconds);
    } else {
      set_.set_if(reading, "cgroup.cpu.usage", only_number(*text), kNanoseconds);
    }
    if (throttling_.is_empty()) take_throttling(*text, reading);
  }
  if (throttling_.is_empty()) return;
  if (const auto text = throttling_.read(buffer_)) take_throttling(*text, reading);
}

void GroupProbe::take_throttling(std::string_view text, Reading& reading) {
  if (groups_.cpu.version == 0) return;
  set_.set_if(reading, "cgroup.cpu.periods", number_behind(text, "nr_periods"));
  set_.set_if(reading, "cgroup.cpu.throttled_periods", number_behind(text, "nr_throttled"));
  if (groups_.cpu.version == 2) {
    set_.set_if(reading, "cgroup.cpu.throttled", number_behind(text, "throttled_usec"), kMicroseconds);
  } else {
    set_.set_if(reading, "cgroup.cpu.throttled", number_behind(text, "throttled_time"), kNanoseconds);
  }
}

void GroupProbe::read_memory(Reading& reading) {
  const bool second = groups_.memory.version == 2;
  const auto current = number_in(memory_current_, buffer_);
  set_.set_if(reading, "cgroup.memory.current", current);
  if (looks_ % kLimitsEvery != 0) return;
  if (const auto text = memory_stat_.read(buffer_)) {
    const auto inactive = number_behind(*text, second ? "inactive_file" : "total_inactive_file");
    if (current && inactive) {
      set_.set(reading, "cgroup.memory.working_set", static_cast<double>(*current - std::min(*current, *inactive)));
    }
  }
}

void GroupProbe::read_io(Reading& reading) {
  const auto text = io_.read(buffer_);
  if (!text) return;
  const auto stands = [this](std::string_view device) { return stands_for_others(device); };
  const GroupIo io = groups_.io.version == 2 ? parse_io_stat(*text, stands) : parse_service_bytes(*text, stands);
  set_.set(reading, "cgroup.io.read", io.read_bytes);
  set_.set(reading, "cgroup.io.written", io.written_bytes);
}

}  // namespace trainwarden::machine
