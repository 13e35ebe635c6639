// Lower confidence bounds of a mean that hold for every look at a sample, and how a number of looks share one alpha.
//
// Why looks need this: a training that is evaluated again and again on the same sample, and stopped as soon as the mean
// passes a target, stops where the sample happens to flatter the model (the winner's curse). Let look k claim "the mean
// of this model is at least L_k" with a chance of at most alpha_k to be wrong. By the union bound all claims hold at
// once with a chance of at least 1 - Σ alpha_k, however the looks depend on each other: it may be the same sample each
// time. What it takes is that the model of look k was not chosen by the scores of this sample.
//
// The rule TargetReached judges by these numbers; a program that decides itself when it is good enough may do the same:
//
//   const double alpha = trainwarden::alpha_of_look(0.05, look, planned_looks);
//   if (trainwarden::lower_bound_of_scores(scores, alpha, size_of_the_full_set) >= target) break;
//
// From any thread.
#pragma once

#include <cstdint>
#include <span>

#include "trainwarden/export.h"

namespace trainwarden {

// The part of `alpha` that look number `look` (from 1) may use. Of a known number of looks each gets the same part
// (Bonferroni), and those past the last get 0. Where it is not known (`looks` is 0), look k gets alpha / (k (k + 1)),
// which sums to alpha over all k.
TRAINWARDEN_API double alpha_of_look(double alpha, std::int64_t look, std::int64_t looks);

// A number below the mean of the set from which `scores` were drawn, but for a chance of at most `alpha`, whatever the
// distribution and however few there are. Scores in [0, 1], one at least; alpha in (0, 1). With `population` 0 the
// scores are independent draws of one distribution; else they were drawn without replacement out of so many items, not
// fewer than there are scores, and the mean is that of all of them: with all scores it is their mean.
//
// Source: I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting", Journal of the
// Royal Statistical Society B 86 (2024), the hedged capital process with its bets on "more" alone, and section 5 for
// draws without replacement: the capital Π (1 + λ_i (x_i - m_i)) of one who bets that the mean is above m is at the end
// above 1 / alpha with a chance of at most alpha when it is not. λ_i comes from the scores before the i-th. The paper
// takes the largest capital on the way, which depends much on the order of the scores; the one at the end does so
// little. They are taken in an order that is shuffled, always in the same way: files of questions are sorted by
// subject.
TRAINWARDEN_API double lower_bound_of_scores(std::span<const double> scores, double alpha, std::int64_t population = 0);

// Whether that number is above `value`, in a tenth of the time: for who does not need the number.
TRAINWARDEN_API bool is_bound_above(double value, std::span<const double> scores, double alpha,
                                    std::int64_t population = 0);

// The same number where only the mean of `count` scores in [0, 1] is known, and not how they spread: the spread is
// taken to be as large as it can be. Source: W. Hoeffding, "Probability inequalities for sums of bounded random
// variables", Journal of the American Statistical Association 58 (1963), theorem 1 (2.1), and section 6 for draws
// without replacement; solved for the mean: the smallest m with count · kl(mean, m) <= log(1 / alpha), kl of two
// Bernoulli distributions.
TRAINWARDEN_API double lower_bound_of_mean(double mean, std::int64_t count, double alpha);

}  // namespace trainwarden
