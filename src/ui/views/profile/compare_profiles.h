// compare_profiles: the numbers of two runs side by side.
#pragma once

#include "ui/views/profile/profile_report.h"

namespace trainwarden::views {

// Steps, phases (means over the workers), machines (means over instances); what neither knows is left out. The last row
// is how much more throughput "here" has than "there", as a ratio.
ProfileComparison compare_profiles(const ProfileReport& here, const ProfileReport& there);

}  // namespace trainwarden::views
