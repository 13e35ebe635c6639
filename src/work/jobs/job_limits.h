// What a job is allowed beside its running time: to wait so long, and to lose its agent so often.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "work/jobs/job_order.h"
#include "work/jobs/job_state.h"

namespace trainwarden::jobs {

// The limit that a job in this phase has passed at this time by waiting for its turn: "max_wait", or "max_pending"
// before its first start; empty: none.
std::string_view passed_waiting_limit(const JobOrder& order, JobPhase phase, std::int64_t unix_ns);

// How often its agent was lost and the job went on.
std::int64_t count_lost_agents(const std::vector<Transition>& transitions);

}  // namespace trainwarden::jobs
