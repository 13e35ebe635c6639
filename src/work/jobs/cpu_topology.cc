#include "work/jobs/cpu_topology.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <sched.h>

#include "core/base/text.h"
#include "core/base/text_file.h"

namespace trainwarden::jobs {
namespace {

using Group = std::vector<int>;  // processors of a core or of a socket

std::optional<int> topology_number(const std::filesystem::path& file) {
  const std::optional<std::string> text = read_text_file(file);
  const std::optional<std::int64_t> number = text ? parse_int(trim(*text)) : std::nullopt;
  return number && *number >= 0 ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

// In the order of their places.
std::vector<Group> groups_of(const CpuTopology& topology, Binding binding) {
  std::map<CpuPlace, Group> groups;
  for (const auto& [cpu, place] : topology) {
    groups[binding == Binding::kCores ? place : CpuPlace{place.socket, 0}].push_back(cpu);
  }
  std::vector<Group> in_order;
  for (auto& [place, group] : groups) in_order.push_back(std::move(group));
  return in_order;
}

// Those of the groups from `first` up to `end`.
Group joined(const std::vector<Group>& groups, std::size_t first, std::size_t end) {
  Group all;
  for (std::size_t i = first; i < end; ++i) all.insert(all.end(), groups[i].begin(), groups[i].end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

std::vector<int> own_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

CpuTopology read_topology(const std::vector<int>& cpus, const std::filesystem::path& root) {
  CpuTopology topology;
  for (const int cpu : cpus) {
    const std::filesystem::path folder = root / fmt::format("cpu{}", cpu) / "topology";
    const std::optional<int> core = topology_number(folder / "core_id");
    // Without a core its own number, beyond those of cores that are known.
    constexpr int kUnknownCores = 1 << 20;
    topology[cpu] = {topology_number(folder / "physical_package_id").value_or(0), core.value_or(kUnknownCores + cpu)};
  }
  return topology;
}

Result<std::vector<std::vector<int>>> cpus_of_ranks(const CpuTopology& topology, Binding binding, std::size_t ranks) {
  if (topology.empty()) return Status(Code::kFailedPrecondition, "bind: the job has no processors");
  std::vector<Group> groups = groups_of(topology, binding);
  if (binding == Binding::kNone) return std::vector<Group>(ranks, joined(groups, 0, groups.size()));
  const std::size_t count = groups.size();
  if (binding == Binding::kCores && count < ranks) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("bind: {} ranks cannot have a core each: the job has {}; ask for "
                              "more cpus, or leave bind out",
                              ranks, count));
  }
  std::vector<Group> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t first = rank * count / ranks;
    all.push_back(joined(groups, first, std::max((rank + 1) * count / ranks, first + 1)));
  }
  return all;
}

}  // namespace trainwarden::jobs
