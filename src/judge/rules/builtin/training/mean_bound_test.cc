#include "trainwarden/mean_bound.h"

#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

double sample_mean(const std::vector<double>& scores) {
  return std::accumulate(scores.begin(), scores.end(), 0.0) / static_cast<double>(scores.size());
}

// As many ones and zeros as give the mean.
std::vector<double> ones_and_zeros(int count, int ones) {
  std::vector<double> scores(static_cast<std::size_t>(count), 0);
  std::fill(scores.begin(), scores.begin() + ones, 1.0);
  return scores;
}

TEST(AlphaOfLook, AKnownNumberOfLooksSharesItEqually) {
  EXPECT_DOUBLE_EQ(alpha_of_look(0.05, 1, 20), 0.0025);
  EXPECT_DOUBLE_EQ(alpha_of_look(0.05, 20, 20), 0.0025);
  EXPECT_EQ(alpha_of_look(0.05, 21, 20), 0);
}

TEST(AlphaOfLook, AnyNumberOfLooksTogetherTakeNoMoreThanAlpha) {
  EXPECT_DOUBLE_EQ(alpha_of_look(0.05, 1, 0), 0.025);
  EXPECT_DOUBLE_EQ(alpha_of_look(0.05, 4, 0), 0.0025);
  double sum = 0;
  for (std::int64_t look = 1; look <= 100'000; ++look) sum += alpha_of_look(0.05, look, 0);
  EXPECT_LT(sum, 0.05);
  EXPECT_NEAR(sum, 0.05, 1e-6);
}

TEST(LowerBoundOfMean, HasKnownValues) {
  // kl(1, m) = -log m, so that of all ones the bound is alpha^(1/n).
  EXPECT_NEAR(lower_bound_of_mean(1, 10, 0.05), std::pow(0.05, 0.1), 1e-9);
  EXPECT_NEAR(lower_bound_of_mean(1, 1, 0.05), 0.05, 1e-9);
  EXPECT_EQ(lower_bound_of_mean(0, 1000, 0.05), 0);
  // The bound is where count · kl is log(1 / alpha).
  const double bound = lower_bound_of_mean(0.88, 1057, 0.001);
  const double divergence = 0.88 * std::log(0.88 / bound) + 0.12 * std::log(0.12 / (1 - bound));
  EXPECT_NEAR(1057 * divergence, std::log(1000.0), 1e-6);
  EXPECT_LT(bound, 0.88);
}

TEST(LowerBoundOfScores, OfOneScoreIsByHand) {
  // One bet: the stake is min(sqrt(8 log 2), 0.75 / m), and the capital 1 + stake · (1 - m) reaches 2 at m = 3 / 7.
  EXPECT_NEAR(lower_bound_of_scores(std::vector<double>{1}, 0.5), 3.0 / 7, 1e-9);
  EXPECT_NEAR(lower_bound_of_scores(std::vector<double>{0}, 0.5), 0, 1e-9);
}

TEST(LowerBoundOfScores, FallsWithEachLookThatSharesAlpha) {
  const std::vector<double> scores = ones_and_zeros(1000, 880);
  double before = 0.88;
  for (std::int64_t look = 1; look <= 200; look += 10) {
    const double bound = lower_bound_of_scores(scores, alpha_of_look(0.05, look, 0));
    EXPECT_LT(bound, before) << look;
    before = bound;
  }
  EXPECT_GT(before, 0.8);
}

TEST(LowerBoundOfScores, RisesWithTheMeanAndWithTheNumberOfScores) {
  double before = 0;
  for (const int ones : {100, 500, 880, 990, 1000}) {
    const double bound = lower_bound_of_scores(ones_and_zeros(1000, ones), 0.01);
    EXPECT_GT(bound, before) << ones;
    EXPECT_LT(bound, ones / 1000.0);
    before = bound;
  }
  EXPECT_LT(lower_bound_of_scores(ones_and_zeros(100, 88), 0.01),
            lower_bound_of_scores(ones_and_zeros(1000, 880), 0.01));
}

TEST(LowerBoundOfScores, GoesByTheSpreadWhereTheOtherTakesTheLargest) {
  std::vector<double> close(1000, 0.88);
  for (std::size_t i = 0; i < close.size(); ++i) close[i] += i % 2 == 0 ? 0.05 : -0.05;
  const double by_spread = 0.88 - lower_bound_of_scores(close, 0.001);
  const double by_mean = 0.88 - lower_bound_of_mean(0.88, 1000, 0.001);
  EXPECT_LT(by_spread, by_mean / 3);
  // Near what a normal distribution would need: sqrt(2 log(1 / alpha)) standard errors.
  EXPECT_LT(by_spread, 2 * std::sqrt(2 * std::log(1000.0)) * 0.05 / std::sqrt(1000.0));
}

TEST(LowerBoundOfScores, IsAboveWhatIsBelowIt) {
  const std::vector<double> scores = ones_and_zeros(1000, 880);
  for (const std::int64_t population : {0, 2000}) {
    const double bound = lower_bound_of_scores(scores, 0.001, population);
    EXPECT_TRUE(is_bound_above(bound - 1e-6, scores, 0.001, population));
    EXPECT_FALSE(is_bound_above(bound + 1e-6, scores, 0.001, population));
  }
}

TEST(LowerBoundOfScores, TheOrderOfAFileHardlyMatters) {
  const std::vector<double> sorted = ones_and_zeros(1000, 880);
  const std::vector<double> reversed(sorted.rbegin(), sorted.rend());
  EXPECT_NEAR(lower_bound_of_scores(sorted, 0.01), lower_bound_of_scores(reversed, 0.01), 0.002);
}

TEST(LowerBoundOfScores, AllItemsOfThePopulationAreTheirMean) {
  const std::vector<double> scores = ones_and_zeros(500, 440);
  EXPECT_NEAR(lower_bound_of_scores(scores, 0.001, 500), 0.88, 1e-9);
  const double half = lower_bound_of_scores(scores, 0.001, 1000);
  EXPECT_GT(half, lower_bound_of_scores(scores, 0.001, 0));
  EXPECT_LT(half, 0.88);
  // Of a population that is as good as endless it is the same as of one that is.
  EXPECT_NEAR(lower_bound_of_scores(scores, 0.001, 1'000'000'000), lower_bound_of_scores(scores, 0.001), 1e-6);
}

// How often in `trials` samples the bound is above the mean of what they were drawn from.
template <class Bound>
int count_misses(int trials, const std::vector<double>& population, std::size_t drawn, const Bound& bound) {
  std::mt19937_64 engine(7);
  const double mean = sample_mean(population);
  std::vector<double> all = population;
  int misses = 0;
  for (int trial = 0; trial < trials; ++trial) {
    for (std::size_t i = 0; i < drawn; ++i) std::swap(all[i], all[i + engine() % (all.size() - i)]);
    const std::vector<double> sample(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(drawn));
    misses += bound(sample) > mean ? 1 : 0;
  }
  return misses;
}

TEST(MeanBounds, MissTheMeanNoMoreOftenThanAlpha) {
  constexpr int kTrials = 4000;
  constexpr double kAlpha = 0.05;
  const std::vector<double> skewed = ones_and_zeros(400, 380);  // where bounds of Student's t miss too often
  const double most = kAlpha * kTrials + 3 * std::sqrt(kAlpha * (1 - kAlpha) * kTrials);
  const int by_scores = count_misses(kTrials, skewed, 100, [&](const std::vector<double>& sample) {
    return lower_bound_of_scores(sample, kAlpha, 400);
  });
  const int by_mean = count_misses(kTrials, skewed, 100, [&](const std::vector<double>& sample) {
    return lower_bound_of_mean(sample_mean(sample), 100, kAlpha);
  });
  EXPECT_LT(by_scores, most);
  EXPECT_GT(by_scores, 0);  // it is not so careful that it says nothing
  EXPECT_LT(by_mean, most);
  const int without_looking =
      count_misses(kTrials, skewed, 100, [&](const std::vector<double>& sample) { return sample_mean(sample); });
  EXPECT_GT(without_looking, 5 * most);
}

}  // namespace
}  // namespace trainwarden
