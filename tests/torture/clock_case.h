// ClockCase: a run on a file system that two machines have mounted, whose wall clocks jump by seconds to years, each
// for itself. Who writes, who would like to, who looks and who removes judge by them who is alive.
#pragma once

#include "case_plan.h"

namespace trainwarden::torture {

// Of the kind kClock.
void play_clock(const CasePlan& plan, CaseLog& log);

}  // namespace trainwarden::torture
