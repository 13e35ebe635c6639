// What keeps workers that wait for each other in torch.distributed apart, from their reports of a stall.
//
// All members of a process group call the same collective operations in the same order, and number them. So who has a
// lower number than the others is not there yet, and who calls something else at the same number never will be.
#pragma once

#include <string>
#include <vector>

#include "judge/rules/builtin/training/stall_report.h"

namespace trainwarden::rules {

struct WorkerStall {
  std::string worker;
  StallReport report;
};

// Sentences, each with a space before it; empty when the reports say nothing of it.
std::string compare_collectives(const std::vector<WorkerStall>& stalls);

}  // namespace trainwarden::rules
