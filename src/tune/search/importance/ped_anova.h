// PED-ANOVA: which parameters make a trial one of the best.
//
// Watanabe, Bansal, Hutter: PED-ANOVA: Efficiently Quantifying Hyperparameter Importance in Arbitrary Subspaces
// (IJCAI 2023). The local importance of a parameter is the Pearson divergence between its density among the best
// trials, p, and that among all, q: D = sum over values of (p - q)^2 / q. Both are Parzen estimates with the same
// kernels, so that where a sampler looked more often counts for nothing. Of a parameter that is active in a part `a` of
// the best trials, D counts a^2 times: elsewhere its density is that of all.
//
// Ours beside the paper: the kernels lie over cells with equally many trials (parameter_cells.h); trials at the border
// of the best with the same cost count in part; and what the same number of trials drawn blindly would show, is taken
// off.
#pragma once

#include <cstdint>
#include <vector>

#include "tune/search/importance/importance_sample.h"
#include "tune/search/importance/importance_share.h"

namespace trainwarden::tune {

// The best of the trials: this share, but no fewer than so many where that is less than half.
inline constexpr double kTopShare = 0.1;
inline constexpr std::size_t kMinTopTrials = 10;

struct PedAnova {
  std::vector<ImportanceShare> single;  // of the sample's parameters; sum 1, or 0 where none beats chance
  // Is what all parameters show together more than what 95 in 100 blind draws would?
  bool beats_chance = false;
};

PedAnova ped_anova(const ImportanceSample& sample, std::uint64_t seed);

}  // namespace trainwarden::tune
