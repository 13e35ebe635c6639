#include "tune/search/gp/bounded_descent.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace trainwarden::tune {
namespace {

using Eigen::Vector2d, Eigen::VectorXd;

double rosenbrock(const VectorXd& x, VectorXd& gradient) {
  const double a = 1 - x[0], b = x[1] - x[0] * x[0];
  gradient = Vector2d(-2 * a - 400 * x[0] * b, 200 * b);
  return a * a + 100 * b * b;
}

TEST(BoundedDescentTest, FindsTheMinimumOfRosenbrocksValley) {
  const DescentEnd end = minimise_in_box(rosenbrock, Vector2d(-1.2, 1), Vector2d(-5, -5), Vector2d(5, 5), {200, 1e-8});
  EXPECT_NEAR(end.at[0], 1, 1e-6);
  EXPECT_NEAR(end.at[1], 1, 1e-6);
  EXPECT_LT(end.evaluations, 100);  // steepest descent takes thousands
}

TEST(BoundedDescentTest, EndsAtTheBoundsOfAValley) {
  const DescentEnd end =
      minimise_in_box(rosenbrock, Vector2d(-1.2, 1), Vector2d(-5, -5), Vector2d(0.5, 5), {200, 1e-8});
  EXPECT_NEAR(end.at[0], 0.5, 1e-9);
  EXPECT_NEAR(end.at[1], 0.25, 1e-6);
}

// (x - target)^T A (x - target) / 2; the minimum in the box fulfils Karush's conditions.
TEST(BoundedDescentTest, SolvesQuadraticsInABox) {
  Eigen::Matrix3d matrix;
  matrix << 4, 1, 0.5, 1, 3, -1, 0.5, -1, 20;
  const Eigen::Vector3d target(2, -0.5, 0.3);
  const SmoothFunction quadratic = [&](const VectorXd& x, VectorXd& gradient) {
    gradient = matrix * (x - target);
    return 0.5 * (x - target).dot(gradient);
  };
  const VectorXd low = VectorXd::Zero(3), high = VectorXd::Ones(3);
  const DescentEnd end = minimise_in_box(quadratic, VectorXd::Constant(3, 0.5), low, high, {100, 1e-9});
  VectorXd gradient(3);
  quadratic(end.at, gradient);
  EXPECT_EQ(end.at[0], 1);
  EXPECT_LT(gradient[0], 0);
  EXPECT_EQ(end.at[1], 0);
  EXPECT_GT(gradient[1], 0);
  EXPECT_NEAR(gradient[2], 0, 1e-8);
}

TEST(BoundedDescentTest, StaysWhereAllPushesAgainstTheBounds) {
  const SmoothFunction slope = [](const VectorXd& x, VectorXd& gradient) {
    gradient = VectorXd::Ones(x.size());
    return x.sum();
  };
  const DescentEnd end = minimise_in_box(slope, VectorXd::Constant(2, -9), VectorXd::Zero(2), VectorXd::Ones(2), {});
  EXPECT_EQ(end.at, VectorXd::Zero(2));  // the start is moved into the box
  EXPECT_EQ(end.evaluations, 1);
}

TEST(BoundedDescentTest, AvoidsWhatIsInfiniteAndKeepsToItsLimit) {
  int calls = 0;
  const SmoothFunction wall = [&](const VectorXd& x, VectorXd& gradient) {
    ++calls;
    gradient = VectorXd::Constant(1, 1 - 1 / x[0]);
    return x[0] < 0.2 ? std::numeric_limits<double>::infinity() : x[0] - std::log(x[0]);
  };
  const DescentEnd end =
      minimise_in_box(wall, VectorXd::Constant(1, 8), VectorXd::Zero(1), VectorXd::Constant(1, 10), {50, 1e-8});
  EXPECT_NEAR(end.at[0], 1, 1e-6);
  calls = 0;
  minimise_in_box(wall, VectorXd::Constant(1, 8), VectorXd::Zero(1), VectorXd::Constant(1, 10), {3, 1e-8});
  EXPECT_LE(calls, 3);
}

}  // namespace
}  // namespace trainwarden::tune
