#include "measure/machine/disk_probe.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "measure/machine/words.h"

namespace trainwarden::machine {
namespace {

constexpr std::size_t kMaxDisks = 256;
constexpr std::size_t kMaxNames = 8192;  // partitions too
constexpr double kSectorBytes = 512;     // whatever the disk's own sectors

// Behind the name, as in Linux's Documentation/admin-guide/iostats.rst.
using DiskFields = std::array<std::uint64_t, 10>;
enum : std::size_t { kReads, kReadSectors = 2, kReadMs, kWrites, kWrittenSectors = 6, kWriteMs, kBusyMs = 9 };

// What stands for other disks, or for memory: what it reads is counted there already, or is nothing.
bool stands_for_others(std::string_view name) {
  constexpr std::array<std::string_view, 5> kStarts = {"loop", "ram", "zram", "dm-", "md"};
  return std::any_of(kStarts.begin(), kStarts.end(),
                     [name](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

DiskProbe::DiskProbe(const HostPlan& plan)
    : diskstats_(plan.root / "proc/diskstats"), block_(plan.root / "sys/block"), disks_(plan.host, kMaxDisks) {}

void DiskProbe::read(Reading& reading) {
  if (const auto text = diskstats_.read(buffer_)) take(*text, reading);
}

// A partition lies in its disk's folder, and not in the one of all disks.
bool DiskProbe::is_whole_disk(std::string_view name) {
  if (const auto known = whole_.find(name); known != whole_.end()) return known->second;
  if (whole_.size() >= kMaxNames || name.empty() || name.find('/') != std::string_view::npos) return false;
  const bool whole = !stands_for_others(name) && !name.starts_with('.') && KernelFile(block_ / name).is_there();
  return whole_.emplace(name, whole).first->second;
}

void DiskProbe::take(std::string_view text, Reading& reading) {
  while (auto line = next_line(text)) {
    next_word(*line);  // major, minor
    next_word(*line);
    const std::string_view name = next_word(*line);
    if (!is_whole_disk(name)) continue;
    DiskFields fields{};
    bool all = true;
    for (std::uint64_t& field : fields) {
      const auto number = next_number(*line);
      all = all && number;
      field = number.value_or(0);
    }
    MetricSet* const disk = all ? disks_.find(name) : nullptr;
    if (disk == nullptr) continue;
    const auto set = [&](Known known, std::uint64_t value, auto unit) {
      disk->set_if(reading, known, std::optional(value), unit);
    };
    set("disk.*.read", fields[kReadSectors], kSectorBytes);
    set("disk.*.written", fields[kWrittenSectors], kSectorBytes);
    set("disk.*.reads", fields[kReads], 1);
    set("disk.*.writes", fields[kWrites], 1);
    set("disk.*.busy", fields[kBusyMs], kMilliseconds);
    set("disk.*.waited", fields[kReadMs] + fields[kWriteMs], kMilliseconds);
  }
}

}  // namespace trainwarden::machine
