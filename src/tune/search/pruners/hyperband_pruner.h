// Hyperband: several successive halvings side by side, from one that prunes early to one that never does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

// Names and defaults are Optuna's, but for check_fidelity.
struct HyperbandOptions {
  std::optional<std::int64_t> min_resource = 1;  // r, in steps; none ("auto"): as ASHA's
  std::optional<std::int64_t> max_resource;      // R; none ("auto"): the longest complete trial plus 1, for a step 0
  std::int64_t reduction_factor = 3;             // eta
  bool check_fidelity = true;                    // not below trusted_step() (fidelity.h)
  bool pause = false;                            // by promotion (promotion.h), in place of ending trials
};

// How many trials each bracket gets, in proportion. There are B = floor(log_eta(R / r)) + 1 brackets; bracket b leaves
// out b rungs, has s = B - 1 - b more than one, and gets ceil(B * eta^s / (s + 1)).
std::vector<std::uint64_t> bracket_shares(std::int64_t min_resource, std::int64_t max_resource,
                                          std::int64_t reduction_factor);
// The bracket of a trial: drawn by these shares, by the seed and the number alone.
std::size_t bracket_of(const std::vector<std::uint64_t>& shares, std::uint64_t seed, std::int64_t number);

// "hyperband": each bracket is an ASHA (rungs.h) over its own trials, for the first objective. With max_resource "auto"
// trials change their brackets when a longer one is complete.
// Needs another trial of the bracket with a value at the rung and, without max_resource or with min_resource "auto", a
// complete trial; a newest value that is no number needs nothing. check_fidelity: as ASHA's.
std::unique_ptr<TrialPruner> make_hyperband_pruner(const HyperbandOptions& options = {});

}  // namespace trainwarden::tune
