// LocalCase: a journal on a disk of its own machine. Its writer is killed, its disk is full or fails, the power goes.
#pragma once

#include "case_plan.h"

namespace trainwarden::torture {

// Of the kinds kKill, kPower and kFull.
void play_local(const CasePlan& plan, CaseLog& log);

}  // namespace trainwarden::torture
