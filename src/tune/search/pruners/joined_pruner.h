// Several pruners of which each may prune; and the one that never does.
#pragma once

#include <memory>
#include <vector>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

// "none": a trial always goes on.
std::unique_ptr<TrialPruner> make_no_pruner();
// "median+threshold": the answer of the first that prunes. At least one; of one it is that one. One of them at most
// pauses.
std::unique_ptr<TrialPruner> make_joined_pruner(std::vector<std::unique_ptr<TrialPruner>> pruners);

}  // namespace trainwarden::tune
