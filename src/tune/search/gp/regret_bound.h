// How much better than the best trial the best point of a space can be: when less than that is left to gain, a search
// may end (Makarova et al. 2022, "Automatic termination for hyperparameter optimization").
#pragma once

#include <optional>
#include <string>

#include "tune/search/history.h"

namespace trainwarden::tune {

// The work grows with the cube of the observations: the best trials and the newest, so many.
inline constexpr std::size_t kMaxRegretObservations = 100;
inline constexpr std::int64_t kRegretInterval = 5;  // complete trials from one question to the next

// Why it cannot be known in such a study, one sentence without a full stop; empty: it can. It can where a Gaussian
// process is at home: one objective, few parameters, no conditions (choose_sampler()).
std::string why_regret_is_unknown(const Space& space, const std::vector<StudyMetric>& metrics);

// Is it time to ask: have enough trials of this study come to their end, and kRegretInterval since the last time?
bool is_regret_due(const History& history);

// Of one objective, in its unit: an upper bound of the simple regret, with 90 % confidence as far as the process is
// right about the function,
//   min over feasible trials of (mean + b * deviation) - min over the space of (mean - b * deviation),
// b^2 = 2/5 * log(d * n^2 * pi^2 / 0.6) of d parameters and n observations: Srinivas et al.'s (2010) scaled by 1/5, as
// there. The process is fitted to warped costs (target_warp.h); both ends are quantiles and are warped back one by one.
// The second minimum is looked for among the observations and from the best of 512 points. Constraints on metrics are
// not looked at in it: the bound is larger then, not smaller. Of trials of other studies (numbers below 0) the process
// learns; they are not what was found. Takes tens of milliseconds.
// None: no feasible trial, or all trials have the same cost, which says nothing of the function.
std::optional<double> regret_bound(const History& history);

}  // namespace trainwarden::tune
