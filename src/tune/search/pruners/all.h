// All pruners, by their names.
//
//   text   = pruner *("+" pruner)
//   pruner = name [":" item *("," item)]        item = key "=" value, or, as the first, a value alone
//
//   none
//   median            startup_trials=5, warmup_steps=0, interval_steps=1, min_trials=1
//   percentile:25     the same, percentile=25
//   asha              min_resource=auto, reduction_factor=4, early_stopping=0, check_fidelity=true, pause=false
//   hyperband         min_resource=1, max_resource=auto, reduction_factor=3, check_fidelity=true,
//                     pause=false
//   patient:8         patience (no default), min_delta=0
//   threshold         min, max, warmup_steps=0
//   wilcoxon:0.1      p_threshold=0.1, startup_steps=2
//   dominated         min_resource=auto, reduction_factor=2, min_trials=5, deviations=2
//
// Each of several pruners may prune; `patient` lets the one behind it prune only after its patience: in
// "threshold:max=9+patient:8+median" the threshold prunes at any time.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "tune/search/pruner.h"

namespace trainwarden::tune {

inline constexpr std::size_t kMaxJoinedPruners = 16;

// kNotFound names the pruners there are, kInvalidArgument says what is wrong with a key.
Result<std::unique_ptr<TrialPruner>> make_pruner(std::string_view text);
std::vector<std::string_view> pruner_names();

}  // namespace trainwarden::tune
