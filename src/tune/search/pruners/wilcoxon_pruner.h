// Ends what is worse than the best trial, sample by sample.
#pragma once

#include <cstdint>
#include <memory>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

// Names and defaults are Optuna's.
struct WilcoxonOptions {
  double p_threshold = 0.1;        // the larger, the sooner it prunes
  std::int64_t startup_steps = 2;  // so many common steps at least
};

// "wilcoxon": for objectives that are a mean of scores of samples (questions, folds, instances): a step is the number
// of a sample, its value the score. One-sided signed-rank test (signed_ranks.h) of the first objective's differences to
// the best feasible trial (of the first objective) at the steps that both have; other steps are not looked at, so what
// thins a series takes from the test. Never pruned while the mean of the trial's values is as good as that of the best
// trial's. A trial, or best trial, with a value that is no finite number is not judged.
// Needs a feasible complete trial with a curve and startup_steps common steps; with the default of p_threshold four,
// for three differences have no p below 1/8.
std::unique_ptr<TrialPruner> make_wilcoxon_pruner(const WilcoxonOptions& options = {});

}  // namespace trainwarden::tune
