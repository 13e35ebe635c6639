#include "work/jobs/job_limits.h"

#include <algorithm>

namespace trainwarden::jobs {

std::string_view passed_waiting_limit(const JobOrder& order, JobPhase phase, std::int64_t unix_ns) {
  if (!is_queued(phase)) return "";
  const double waited = static_cast<double>(unix_ns - order.submitted_unix_ns) / 1e9;
  if (order.max_wait_seconds && waited >= *order.max_wait_seconds) return "max_wait";
  const bool never_began = phase == JobPhase::kPending;
  return never_began && order.max_pending_seconds && waited >= *order.max_pending_seconds ? "max_pending" : "";
}

std::int64_t count_lost_agents(const std::vector<Transition>& transitions) {
  return std::count_if(transitions.begin(), transitions.end(), [](const Transition& one) {
    return one.status == JobPhase::kInterrupted && one.cause == kAgentLost;
  });
}

}  // namespace trainwarden::jobs
