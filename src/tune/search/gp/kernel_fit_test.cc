#include "tune/search/gp/kernel_fit.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tune/search/gp/finite_difference.h"
#include "tune/search/gp/lower_triangle.h"
#include "tune/search/random.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

MatrixXd random_matrix(Index rows, Index columns, std::uint64_t seed) {
  Random random(seed);
  MatrixXd matrix(rows, columns);
  for (Index j = 0; j < columns; ++j) {
    for (Index i = 0; i < rows; ++i) matrix(i, j) = random.uniform();
  }
  return matrix;
}

TEST(LowerTriangleTest, InverseAndGramMatrixAreThoseOfTheWholeMatrix) {
  for (const Index count : {1, 7, 24, 25, 90}) {
    MatrixXd lower = random_matrix(count, count, 1).triangularView<Eigen::Lower>();
    lower.diagonal().array() += 3 * std::sqrt(static_cast<double>(count));
    MatrixXd inverse = lower, gram = lower;
    invert_lower(inverse);
    gram_of_lower(gram);
    EXPECT_LT((lower * inverse - MatrixXd::Identity(count, count)).norm(), 1e-12) << count;
    const MatrixXd whole = (lower.transpose() * lower).triangularView<Eigen::Lower>();
    EXPECT_LT((whole - MatrixXd(gram.triangularView<Eigen::Lower>())).norm(), 1e-9) << count;
  }
}

TEST(KernelTest, DistancesKnowChoicesAndWhatIsNotActive) {
  constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(squared_distance({}, 0.2, 0.5), 0.09, 1e-15);
  EXPECT_EQ(squared_distance({true, false}, 0.25, 0.75), 1);
  EXPECT_EQ(squared_distance({true, false}, 0.25, 0.25), 0);
  EXPECT_EQ(squared_distance({false, true}, kAbsent, 0.25), 1);
  EXPECT_EQ(squared_distance({false, true}, 0.25, kAbsent), 1);
  EXPECT_EQ(squared_distance({false, true}, kAbsent, kAbsent), 0);
}

TEST(KernelTest, IsMaternWithItsSlope) {
  Eigen::ArrayXd squared(3);
  squared << 0, 0.2, 3;
  const Eigen::ArrayXd kernel = matern(squared);
  EXPECT_EQ(kernel[0], 1);
  EXPECT_NEAR(kernel[1], (1 + 1 + 1.0 / 3) * std::exp(-1), 1e-15);
  const Eigen::ArrayXd slope = (matern(squared + 1e-6) - matern((squared - 1e-6).max(0))) / 2e-6;
  EXPECT_NEAR(matern_slope(squared)[1], slope[1], 1e-8);
  EXPECT_NEAR(matern_slope(squared)[2], slope[2], 1e-8);
}

TEST(FitLossTest, GradientIsThatOfDifferences) {
  MatrixXd rows = random_matrix(40, 4, 2);
  for (Index i = 0; i < rows.rows(); ++i) {
    rows(i, 2) = rows(i, 2) < 0.5 ? 0.25 : 0.75;
    if (i % 3 == 0) rows(i, 3) = std::numeric_limits<double>::quiet_NaN();
  }
  const VectorXd targets = (3 * rows.col(0)).array().sin() + rows.col(2).array() + rows.col(1).array().square();
  FitLoss loss({{}, {}, {true, false}, {false, true}}, rows, targets);
  VectorXd logs(6), gradient(6);
  logs << 1, -0.5, 0.3, -1, 0.4, -4;
  loss(logs, gradient);
  const VectorXd expected =
      gradient_by_differences([&](const VectorXd& at, VectorXd& unused) { return loss(at, unused); }, logs, 1e-5);
  EXPECT_LT((gradient - expected).norm(), 1e-6 * expected.norm()) << gradient << "\n\n" << expected;
}

// What matters gets a larger weight than what does not, and noise is told from structure.
TEST(KernelFitTest, FindsWhatMattersAndTheNoise) {
  Random random(5);
  for (const Index count : {60, 150}) {  // with and without the second step
    const MatrixXd rows = random_matrix(count, 3, 3);
    VectorXd targets = (6 * rows.col(0)).array().sin() * 1.4;
    const KernelParameters exact = fit_kernel({{}, {}, {}}, rows, targets, false);
    EXPECT_GT(exact.weights[0], 4 * exact.weights[1]);
    EXPECT_GT(exact.weights[0], 4 * exact.weights[2]);
    EXPECT_LT(exact.noise, 1e-3);
    for (double& target : targets) target += 0.3 * random.normal();
    const KernelParameters noisy = fit_kernel({{}, {}, {}}, rows, targets, false);
    EXPECT_GT(noisy.noise, 0.03);
    EXPECT_LT(noisy.noise, 0.2);
    EXPECT_NEAR(fit_kernel({{}, {}, {}}, rows, targets, true).noise, kNoiseFloor, 1e-12);
  }
}

}  // namespace
}  // namespace trainwarden::tune
