// Which trials are better: one order for all samplers that learn from ranks.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tune/search/history.h"

namespace trainwarden::tune {

using Costs = std::vector<double>;  // of the objectives, smaller is better

// Of each row its rank: 0 where nothing dominates it (as good in all and better in one), 1 where only those of rank 0
// do, and so on. By Zhang et al.'s search of the fronts (ENS-BS, 2015).
std::vector<std::size_t> nondominated_ranks(std::span<const Costs> rows);
// Of each row the crowding distance among these (Deb et al. 2002): the sides of the box to its neighbours, in each
// objective relative to the range; infinite at the ends.
std::vector<double> crowding_distances(std::span<const Costs> rows);

// Indices of these trials, which are complete or pruned, best first:
// - feasible complete ones by cost; with several objectives by nondominated rank, and within a rank the least crowded
//   first; then those whose objectives are no finite numbers,
// - pruned ones, by their last step (of the first objective's series), later first, and then by the value there,
// - infeasible ones by violation; unknown is the largest,
// - those that a verdict ended.
// Equal ones by their index. `count`: only so many.
std::vector<std::size_t> best_first(const History& history, std::vector<std::size_t> trials,
                                    std::size_t count = std::numeric_limits<std::size_t>::max());

}  // namespace trainwarden::tune
