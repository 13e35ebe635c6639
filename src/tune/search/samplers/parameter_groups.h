// Parameters that are active together.
#pragma once

#include <vector>

#include "tune/search/history.h"

namespace trainwarden::tune {

// Each parameter is in one group; those of a group have the same condition. A group stands behind that of the parameter
// of its condition. With `together` false each parameter is a group of its own.
std::vector<std::vector<std::size_t>> parameter_groups(const Space& space, bool together);

// The same, but those of a group are also in the same of the complete and pruned trials: what trials ask for only
// sometimes is learnt apart from the rest.
std::vector<std::vector<std::size_t>> parameter_groups(const History& history, bool together);

// For each constraint the last group that has one of its parameters: there it is decided.
std::vector<std::size_t> groups_of_constraints(const Space& space, const std::vector<std::vector<std::size_t>>& groups);

}  // namespace trainwarden::tune
