// RankPlace: where one process of a training stands among the others, and the variables that tell it so.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "trainwarden/status.h"
#include "work/jobs/job_spec.h"

namespace trainwarden::ranks {

struct RankPlace {
  std::int64_t rank = 0;
  std::int64_t local_rank = 0;  // on its node
  std::int64_t world_size = 1;
  std::int64_t local_world_size = 1;
  std::int64_t node = 0;
  std::int64_t nodes = 1;
  std::string master_address;  // of the node of rank 0
  std::string master_port;     // empty: it is in the environment already
};

// What torchrun sets: RANK, LOCAL_RANK, WORLD_SIZE, LOCAL_WORLD_SIZE, GROUP_RANK, GROUP_WORLD_SIZE, MASTER_ADDR,
// MASTER_PORT; and NODE_RANK, which is GROUP_RANK under the name that Lightning and others read.
std::map<std::string, std::string> torchrun_variables(const RankPlace& place);

// A port that nobody has on this machine now. Somebody may take it before rank 0 does, which then says so; a number
// that is made up is more often taken. kUnavailable when there is none.
Result<int> free_port();

// How many processes the program of a job has, on all nodes together.
std::int64_t rank_count(const jobs::Resources& resources);

// Adds what the resources say of each rank: OMP_NUM_THREADS (`threads_per_rank`; of several ranks else their
// processors, or an equal share of `node_cpus`), and the network interface, for NCCL and Gloo. What is there already
// stays.
void add_rank_variables(const jobs::Resources& resources, std::int64_t node_cpus,
                        std::map<std::string, std::string>& environment);

}  // namespace trainwarden::ranks
