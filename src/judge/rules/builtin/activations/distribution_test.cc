// Measures of spread: those from a histogram come near those from the values.
#include "judge/rules/builtin/activations/distribution.h"

#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

Statistics with_histogram(const std::vector<float>& values) {
  const auto count = static_cast<std::int64_t>(values.size());
  return *compute_statistics(TensorView::of(values.data(), DType::kFloat32, {count}), {.histogram = true});
}

using Numbers = std::vector<double>;

template <class Distribution>
std::vector<float> sample(Distribution distribution, std::size_t count) {
  std::mt19937 random(7);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(distribution(random));
  return values;
}

std::vector<double> doubles(const std::vector<float>& values) {
  return {values.begin(), values.end()};
}

TEST(Distribution, QuantilesAsNumPyGivesThem) {
  EXPECT_EQ(quantile(Numbers{4, 1, 3, 2}, 0), 1);
  EXPECT_EQ(quantile(Numbers{4, 1, 3, 2}, 1), 4);
  EXPECT_EQ(quantile(Numbers{4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_NEAR(quantile(Numbers{1, 2, 3, 4, 5}, 0.05), 1.2, 1e-12);
  EXPECT_EQ(quantile(Numbers{7}, 0.3), 7);
  EXPECT_TRUE(std::isnan(quantile(Numbers(), 0.5)));
}

TEST(Distribution, QuantilesOfAHistogramComeNear) {
  const auto values = sample(std::normal_distribution<double>(0.5, 3), 20'000);
  const Statistics statistics = with_histogram(values);
  for (const double q : {0.0, 0.05, 0.3, 0.5, 0.8, 0.95, 1.0}) {
    const double exact = quantile(doubles(values), q);
    EXPECT_NEAR(quantile(statistics, q), exact, std::abs(exact) / 8) << q;
  }
}

TEST(Distribution, KurtosisOfKnownNumbers) {
  EXPECT_EQ(kurtosis(std::vector<double>{-1, 1}), 1);
  EXPECT_NEAR(kurtosis(std::vector<double>{0, 0, 0, 0, 5}), 3.25, 1e-12);
  EXPECT_TRUE(std::isnan(kurtosis(std::vector<double>{2, 2})));
}

TEST(Distribution, KurtosisOfAHistogramComesNear) {
  std::vector<std::vector<float>> samples = {
      sample(std::normal_distribution<double>(0, 1), 20'000), sample(std::normal_distribution<double>(3, 1), 20'000),
      sample(std::exponential_distribution<double>(3), 20'000), sample(std::student_t_distribution<double>(3), 20'000),
      sample(std::uniform_real_distribution<double>(-1, 1), 20'000)};
  samples.push_back(samples[0]);
  for (float& value : samples.back()) value = std::max(value, 0.0F);  // behind a ReLU
  samples.push_back(samples[0]);
  samples.back()[5] = 300;  // one outlier
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const double exact = kurtosis(doubles(samples[i]));
    const double near = kurtosis(with_histogram(samples[i]));
    EXPECT_NEAR(near / exact, 1, 0.03) << i << ": " << near << " for " << exact;
  }
}

TEST(Distribution, AHistogramThatIsTooCoarseGivesNoKurtosis) {
  EXPECT_TRUE(std::isnan(kurtosis(with_histogram(sample(std::normal_distribution<double>(100, 0.1), 20'000)))));
}

TEST(Distribution, NothingToMeasure) {
  EXPECT_TRUE(std::isnan(kurtosis(with_histogram({3, 3, 3}))));
  EXPECT_TRUE(std::isnan(quantile(with_histogram({}), 0.5)));
}

}  // namespace
}  // namespace trainwarden::rules
