#include "work/queue/machine.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include <unistd.h>

#include "core/base/text.h"
#include "core/base/text_file.h"

namespace trainwarden::queue {
namespace {

std::vector<int> nvidia_gpus() {
  std::vector<int> gpus;
  std::error_code ignored;
  const std::filesystem::directory_iterator all("/proc/driver/nvidia/gpus", ignored);
  for (auto gpu = all; gpu != std::filesystem::directory_iterator(); gpu.increment(ignored)) {
    gpus.push_back(static_cast<int>(gpus.size()));
  }
  return gpus;
}

std::uint64_t machine_memory() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0 ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) : 0;
}

// Of the control group of version 2 or 1 that a container shows as its root. "max", and version 1's huge number, say
// that there is none.
std::optional<std::uint64_t> group_memory() {
  for (const char* file : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    const std::optional<std::string> text = read_text_file(file);
    const std::optional<std::int64_t> bytes = text ? parse_int(trim(*text)) : std::nullopt;
    if (bytes && *bytes > 0) return static_cast<std::uint64_t>(*bytes);
  }
  return std::nullopt;
}

}  // namespace

Capacity this_machine() {
  const std::uint64_t memory = machine_memory();
  Capacity capacity{jobs::own_cpus(), nvidia_gpus(), std::min(memory, group_memory().value_or(memory)), {}};
  capacity.topology = jobs::read_topology(capacity.cpus);
  return capacity;
}

}  // namespace trainwarden::queue
