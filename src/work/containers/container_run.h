// One container of a job, from its start to its end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/process/exit_record.h"
#include "core/process/signal_relay.h"
#include "trainwarden/status.h"
#include "work/jobs/job_record.h"

namespace trainwarden::containers {

struct ContainerRank {
  int attempt = 1;
  std::int64_t rank = 0;                 // of the process that runs in it
  std::vector<std::string> program;      // and its arguments
  std::optional<std::vector<int>> gpus;  // that a batch system has given; nothing: those of the job's allocation
  bool keeps_control_group = false;      // as ContainerPlan's
};

// Runs the program in a container of the job's image, and hands signals on to it. Which image it was is written into
// the job before it starts; that its memory was used up, when it has ended. What is left of the container its agent
// removes, or whoever finds that the agent is gone (JobRecord::kill_left_of()). Its variables are those of the job and
// its ranks; LD_PRELOAD stays outside. Errors: no engine, no image, a folder that cannot be seen.
Result<process::ExitRecord> run_in_container(jobs::JobRecord& job, const ContainerRank& rank,
                                             process::SignalRelay& signals);

// Which of these variables a container gets: the job's own, and what its ranks, its threads and its network go by.
bool is_handed_on(const std::string& variable, const jobs::JobOrder& order);

}  // namespace trainwarden::containers
