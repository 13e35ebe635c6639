// ShareCase: a run on a file system that two machines have mounted (share.h). One writes, both read, the other asks.
#pragma once

#include "case_plan.h"

namespace trainwarden::torture {

// Of the kind kShared.
void play_shared(const CasePlan& plan, CaseLog& log);

}  // namespace trainwarden::torture
