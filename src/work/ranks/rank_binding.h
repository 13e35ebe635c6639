// The processors that the ranks of a job are bound to, where each rank finds them on its own node.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trainwarden/status.h"
#include "work/jobs/job_record.h"
#include "work/jobs/job_spec.h"
#include "work/ranks/rank_place.h"

namespace trainwarden::ranks {

struct RankBinding {
  bool by_batch_system = false;  // this process is bound as its rank is to be
  jobs::Binding own = jobs::Binding::kNone;
};

// Those of one rank: its share of those that this process may use (jobs/cpu_topology.h). Nothing: it is not bound.
// kFailedPrecondition when there are fewer cores than ranks of this node.
Result<std::optional<std::vector<int>>> cpus_of_rank(const RankBinding& binding, const RankPlace& place);

// In the job's folder, for people to see (`job describe`).
Status write_rank_cpus(const jobs::JobRecord& job, int attempt, std::int64_t rank, const std::vector<int>& cpus);
// Of each rank up to the last one that has written any; empty for one that has not. kDataLoss when a file is damaged.
Result<std::vector<std::vector<int>>> read_rank_cpus(const jobs::JobRecord& job, int attempt);

}  // namespace trainwarden::ranks
