// Which processors share a core and a socket, and how the ranks of a job are bound to them.
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::jobs {

inline constexpr const char* kCpuRoot = "/sys/devices/system/cpu";

struct CpuPlace {
  int socket = 0;
  int core = 0;  // in its socket
  friend auto operator<=>(const CpuPlace&, const CpuPlace&) = default;
};

// By number, as Linux numbers them (Documentation/admin-guide/cputopology.rst). A processor that the system says
// nothing of is a core of its own in socket 0.
using CpuTopology = std::map<int, CpuPlace>;

// Of these processors. `root` is kCpuRoot; tests have trees of their own.
CpuTopology read_topology(const std::vector<int>& cpus, const std::filesystem::path& root = kCpuRoot);

std::vector<int> own_cpus();  // that this process may use

// The processors of each rank of one node, sorted. Bound to cores, each rank has whole cores that no other has, as many
// as the next one or one more, and those of a rank lie side by side. Bound to sockets, it has all processors of its
// socket, or of several when there are more sockets than ranks; ranks share one when there are fewer. Not bound, all
// have all. kFailedPrecondition when there are fewer cores than ranks to be bound to them.
Result<std::vector<std::vector<int>>> cpus_of_ranks(const CpuTopology& topology, Binding binding, std::size_t ranks);

}  // namespace trainwarden::jobs
