// What a Gaussian process is told of a history.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "tune/search/history.h"

namespace trainwarden::tune {

inline constexpr std::size_t kMaxObservations = 500;  // the work grows with their cube
inline constexpr std::size_t kKeptBest = 100;         // of more, the best ones so many, and the newest
inline constexpr std::size_t kMaxPending = 100;       // points on trial, the newest

// Of one metric: its cost, or what stands for it. Of a trial that was pruned, the cost that it reported last, but no
// less than the median of those that are complete; NaN where there is none, and where a trial failed or a verdict ended
// it.
std::vector<double> observed_costs(const History& history, const std::vector<std::size_t>& trials, std::size_t metric);

// Indices of the trials that are over and have a point, in their order: all, or the best of the objectives' sum of
// ranks (kKeptBest, or half of `most` if that is less) and the newest, at most `most`. Without repeats, which would
// look like proof that there is no noise.
std::vector<std::size_t> observed_trials(const History& history, std::size_t most = kMaxObservations);
// Indices of the trials that wait or run and have a point, but for that of this number: the newest.
std::vector<std::size_t> pending_trials(const History& history, std::int64_t number);

// A row of positions for each.
Eigen::MatrixXd rows_of(const History& history, const std::vector<std::size_t>& trials);

}  // namespace trainwarden::tune
