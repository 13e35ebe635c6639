// Any bytes as what the kernel says of a machine: the first chooses the file, the rest is its text. What is read are
// finite values of metrics of the table, and the same bytes give the same values again.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "core/base/folder_testing.h"
#include "measure/machine/control_groups.h"
#include "measure/machine/disk_probe.h"
#include "measure/machine/group_probe.h"
#include "measure/machine/memory_probe.h"
#include "measure/machine/network_probe.h"
#include "measure/machine/pressure_probe.h"
#include "measure/machine/process_probe.h"
#include "measure/machine/process_tree.h"
#include "measure/machine/processor_probe.h"

namespace {

using namespace trainwarden::machine;

// A machine that has two disks, and no file: what is not in the text is not there.
HostPlan empty_machine() {
  static const trainwarden::TestFolder folder;
  static const bool made = [] {
    return std::filesystem::create_directories(folder.path() / "sys/block/sda") &&
           std::filesystem::create_directories(folder.path() / "sys/block/vda");
  }();
  static_cast<void>(made);
  return {.root = folder.path(), .host = "host", .roots = {}};
}

void check(bool holds) {
  if (!holds) std::abort();
}

template <class ProbeOfText, class Take>
void read_twice(std::string_view text, const Take& take) {
  static const HostPlan plan = empty_machine();
  ProbeOfText probe(plan);
  Reading reading;
  std::map<std::uint32_t, double> first;
  take(probe, text, reading);
  for (const auto& [metric, value] : reading.values()) first[metric] = value;
  reading.begin_tick();
  take(probe, text, reading);
  check(reading.values().size() == first.size() && reading.metrics().size() >= first.size());
  for (const auto& [metric, value] : reading.values()) {
    check(std::isfinite(value) && value >= 0 && first.at(metric) == value);
  }
}

void read_file(int which, std::string_view text) {
  const auto take = [](auto& probe, std::string_view of, Reading& reading) { probe.take(of, reading); };
  switch (which) {
    case 0:
      return read_twice<ProcessorProbe>(text,
                                        [](auto& probe, auto of, auto& reading) { probe.take_stat(of, reading); });
    case 1:
      return read_twice<ProcessorProbe>(text,
                                        [](auto& probe, auto of, auto& reading) { probe.take_loadavg(of, reading); });
    case 2: return read_twice<MemoryProbe>(text, take);
    case 3: return read_twice<PagingProbe>(text, take);
    case 4: return read_twice<DiskProbe>(text, take);
    case 5: return read_twice<NetworkProbe>(text, take);
    default: return;
  }
}

void read_rest(std::string_view text) {
  const StandsForOthers none = [](std::string_view) { return false; };
  const auto stat = parse_process_stat(text);
  check(!stat || stat->name.size() <= 64);
  static_cast<void>(parse_process_status(text));
  static_cast<void>(parse_pressure(text));
  static_cast<void>(parse_cpu_max(text));
  check(parse_io_stat(text, none).read_bytes >= 0);
  check(parse_service_bytes(text, none).written_bytes >= 0);
  const auto count = count_of_list(text);
  check(!count || *count > 0);
  const auto path = group_path(text, "memory");
  check(!path || path->front() == '/');
  check(parse_group_mounts(text).size() <= kMaxGroupMounts);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  constexpr int kFiles = 7;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const int which = data[0] % kFiles;
  if (which < kFiles - 1) {
    read_file(which, text);
  } else {
    read_rest(text);
  }
  return 0;
}
