// Which waiting jobs start now, and on what of the machine.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "work/jobs/allocation.h"
#include "work/jobs/cpu_topology.h"
#include "work/jobs/job_order.h"

namespace trainwarden::queue {

// What a machine has for all jobs together.
struct Capacity {
  std::vector<int> cpus;  // numbers of processors
  std::vector<int> gpus;
  std::uint64_t memory_bytes = 0;
  jobs::CpuTopology topology;  // of the processors; one that is not in it is a core of its own
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

struct WaitingJob {
  std::string name;
  jobs::Needs needs;
  std::int64_t priority = 0;
  std::int64_t submitted_unix_ns = 0;
};

struct Placing {
  std::map<std::string, jobs::Allocation> starts;  // by name
  std::map<std::string, std::string> reasons;      // why the others wait, for people
};

// In the order of priority, the highest first, then of submission. What the first job that does not fit waits for is
// kept for it: a later one starts before it only with what is left beside that, so that none waits for ever. A job that
// says nothing takes all processors and GPUs. `running` is what jobs have that run.
Placing place(std::vector<WaitingJob> waiting, const std::vector<jobs::Allocation>& running, const Capacity& capacity);

}  // namespace trainwarden::queue
