#include "tune/search/samplers/kernel_mixture.h"

#include <array>
#include <cmath>

#include "tune/search/samplers/sampler_trials.h"

namespace trainwarden::tune {
namespace {

std::vector<const Point*> pointers_to(const std::vector<Point>& points) {
  std::vector<const Point*> pointers;
  for (const Point& point : points) pointers.push_back(&point);
  return pointers;
}

Space four_kinds() {
  Hyperparameter rate = number_between("r", 1e-4, 1e-1);
  rate.log = true;
  return *Space::make({number_between("x", 0, 1), whole_between("n", 1, 8), rate, choice_of("c", {"a", "b", "c"})});
}

// Expected by Optuna 5.0.0's _ParzenEstimator with multivariate=True; there the density of r is that of ln r.
TEST(KernelMixtureTest, HasTheDensitiesOfOptuna) {
  const Space space = four_kinds();
  const std::vector<Point> observed = {{0.1, 1, 1e-3, 0}, {0.4, 3, 2e-3, 2}, {0.45, 3, 5e-2, 2}, {0.9, 8, 1e-4, 1}};
  const std::vector<Point> looked_at = {{0.05, 1, 1e-3, 0}, {0.42, 3, 1e-2, 2}, {0.95, 8, 1e-1, 1}, {0.6, 5, 3e-4, 0}};
  const double by_range = std::log(std::log(1e3));
  const std::array<std::array<double, 4>, 5> expected = {{{-3.740586, -4.20363094, -6.53263888, -5.48190422},
                                                          {-0.02701654, 0.15383342, -0.36448002, 0.0333217},
                                                          {-1.85850848, -1.83624877, -2.56411117, -2.14526356},
                                                          {-1.77515679, -2.00452091, -2.37381477, -1.77656851},
                                                          {-1.23214368, -0.87546874, -1.23214368, -1.23214368}}};
  const auto pointers = pointers_to(observed);
  for (std::size_t which = 0; which < 5; ++which) {
    std::vector<std::size_t> parameters = {0, 1, 2, 3};
    if (which > 0) parameters = {which - 1};
    const KernelMixture mixture(space, parameters, pointers, weights_by_age(4));
    const double added = which == 0 || which == 3 ? by_range : 0;
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(mixture.log_density(looked_at[i]), expected[which][i] + added, 1e-4) << which << " " << i;
    }
  }
}

TEST(KernelMixtureTest, HasTheDensitiesOfOptunaWithAges) {
  const Space space = *Space::make({number_between("x", 0, 1), number_between("y", 0, 1)});
  std::vector<Point> observed;
  for (int i = 0; i < 60; ++i) observed.push_back({std::fmod(i * 0.37, 1.0), std::fmod(i * 0.61, 1.0)});
  const KernelMixture mixture(space, {0, 1}, pointers_to(observed), weights_by_age(60));
  EXPECT_NEAR(mixture.log_density({0.2, 0.5}), -1.2019793, 1e-7);
  EXPECT_NEAR(mixture.log_density({0.77, 0.01}), -3.8508231, 1e-7);
  EXPECT_NEAR(mixture.log_density({0, 1}), -3.94748794, 1e-7);
}

TEST(KernelMixtureTest, MassesSumToOne) {
  const Space space = *Space::make({whole_between("n", 1, 500), choice_of("c", {"a", "b"})});
  const std::vector<Point> observed = {{1, 0}, {250, 1}, {251, 1}, {500, 0}};
  const KernelMixture mixture(space, {0, 1}, pointers_to(observed), weights_by_age(4));
  double sum = 0;
  for (int n = 1; n <= 500; ++n)
    sum += std::exp(mixture.log_density({1.0 * n, 0})) + std::exp(mixture.log_density({1.0 * n, 1}));
  EXPECT_NEAR(sum, 1, 1e-3);
}

TEST(KernelMixtureTest, DrawsByItsDensity) {
  const Space space = *Space::make({whole_between("n", 1, 6), choice_of("c", {"a", "b", "c"})});
  const std::vector<Point> observed = {{2, 0}, {2, 0}, {5, 2}};
  const KernelMixture mixture(space, {0, 1}, pointers_to(observed), weights_by_age(3));
  std::map<Point, int> counts;
  Random random(1);
  Point point(2);
  constexpr int kDraws = 60'000;
  for (int i = 0; i < kDraws; ++i) {
    mixture.draw(random, point);
    ++counts[point];
  }
  for (int n = 1; n <= 6; ++n) {
    for (int c = 0; c < 3; ++c) {
      const Point at = {1.0 * n, 1.0 * c};
      EXPECT_NEAR(counts[at] / (1.0 * kDraws), std::exp(mixture.log_density(at)), 0.006) << n << " " << c;
    }
  }
}

TEST(KernelMixtureTest, HundredsOfParametersStayFinite) {
  std::vector<Hyperparameter> parameters;
  std::vector<std::size_t> indices;
  for (std::size_t i = 0; i < kMaxParameters; ++i) {
    parameters.push_back(number_between("x" + std::to_string(i), 0, 1));
    indices.push_back(i);
  }
  const Space space = *Space::make(parameters);
  const std::vector<Point> observed(200, Point(kMaxParameters, 0.5));
  const KernelMixture mixture(space, indices, pointers_to(observed), weights_by_age(200));
  EXPECT_TRUE(std::isfinite(mixture.log_density(observed[0])));
  EXPECT_TRUE(std::isfinite(mixture.log_density(Point(kMaxParameters, 0.0))));
}

TEST(KernelMixtureTest, TheOldWeighLess) {
  EXPECT_EQ(weights_by_age(24), std::vector<double>(24, 1));
  const std::vector<double> weights = weights_by_age(100);
  EXPECT_DOUBLE_EQ(weights[0], 0.01);
  EXPECT_DOUBLE_EQ(weights[74], 1);
  EXPECT_DOUBLE_EQ(weights[37], 0.01 + 0.99 * 37 / 74);
  EXPECT_EQ(weights[99], 1);
}

}  // namespace
}  // namespace trainwarden::tune
