#include "tune/search/gp/posterior.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "tune/search/gp/acquisition.h"
#include "tune/search/gp/finite_difference.h"
#include "tune/search/gp/log_improvement.h"
#include "tune/search/random.h"

namespace trainwarden::tune {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::RowVectorXd, Eigen::VectorXd;

const std::vector<KernelDimension> kMixed = {{}, {}, {true, false}, {false, true}};

MatrixXd mixed_rows(Index count, std::uint64_t seed) {
  Random random(seed);
  MatrixXd rows(count, 4);
  for (Index i = 0; i < count; ++i) {
    rows(i, 0) = random.uniform();
    rows(i, 1) = random.uniform();
    rows(i, 2) = (static_cast<double>(random.below(3)) + 0.5) / 3;
    rows(i, 3) = rows(i, 2) < 0.5 ? random.uniform() : std::numeric_limits<double>::quiet_NaN();
  }
  return rows;
}

VectorXd values_at(const MatrixXd& rows) {
  const Eigen::ArrayXd last = rows.col(3).array().isNaN().select(0.3, rows.col(3).array());
  return (4 * rows.col(0)).array().sin() + rows.col(1).array().square() * rows.col(2).array() - last;
}

GpPosterior mixed_posterior(std::uint64_t seed, double noise = 1e-6) {
  const MatrixXd rows = mixed_rows(30, seed);
  return GpPosterior(kMixed, rows, values_at(rows), {Eigen::Vector4d(3, 1, 0.5, 2), 1.5, noise});
}

TEST(GpPosteriorTest, GoesThroughDataWithoutNoise) {
  const GpPosterior posterior = mixed_posterior(1);
  for (Index i = 0; i < posterior.rows().rows(); ++i) {
    const GpMoments moments = posterior.at(posterior.rows().row(i)).moments;
    EXPECT_NEAR(moments.means[0], posterior.targets()(i, 0), 1e-3);
    EXPECT_LT(moments.deviation, 2e-3);
    EXPECT_NEAR(posterior.own_means()(i, 0), moments.means[0], 1e-9);
  }
  const RowVectorXd far = RowVectorXd::Constant(4, 50);
  EXPECT_NEAR(posterior.at(far).moments.means[0], 0, 1e-6);
  EXPECT_NEAR(posterior.at(far).moments.deviation, std::sqrt(1.5), 1e-6);
}

TEST(GpPosteriorTest, ManyAreAsOne) {
  const GpPosterior posterior = mixed_posterior(1, 0.01);
  const MatrixXd rows = mixed_rows(300, 9);
  const GpPosterior::Many many = posterior.at_all(rows);
  for (Index i = 0; i < rows.rows(); ++i) {
    const GpMoments one = posterior.at(rows.row(i)).moments;
    EXPECT_NEAR(many.means(i, 0), one.means[0], 1e-10);
    EXPECT_NEAR(many.deviations[i], one.deviation, 1e-7);
  }
}

TEST(GpPosteriorTest, HoldsWherePointsAreDoubled) {
  const MatrixXd rows = MatrixXd::Constant(20, 4, 0.5);
  VectorXd targets = VectorXd::LinSpaced(20, -1, 1);
  const GpPosterior posterior(kMixed, rows, targets, {VectorXd::Ones(4), 1e4, 1e-13});
  EXPECT_NEAR(posterior.at(rows.row(0)).moments.means[0], 0, 1e-2);
  EXPECT_TRUE(std::isfinite(posterior.at(RowVectorXd::Zero(4)).moments.deviation));
}

TEST(GpPosteriorTest, FantasiesAreDrawnFromItAndTakeItsDoubt) {
  const GpPosterior posterior = mixed_posterior(1);
  const MatrixXd rows = mixed_rows(2, 20);
  const GpMoments before = posterior.at(rows.row(0)).moments;
  MatrixXd normals(2, 3);
  normals << -1, 0, 1, 0, 0, 0;
  const GpPosterior after = posterior.with_fantasies(rows, normals);
  const GpMoments moments = after.at(rows.row(0)).moments;
  for (Index i = 0; i < 3; ++i) {
    EXPECT_NEAR(moments.means[i], before.means[0] + static_cast<double>(i - 1) * before.deviation, 1e-3);
  }
  EXPECT_LT(moments.deviation, 2e-3);
  // Who believes the means changes nothing elsewhere.
  const RowVectorXd other = mixed_rows(1, 21).row(0);
  EXPECT_NEAR(after.at(other).moments.means[1], posterior.at(other).moments.means[0], 1e-6);
}

// Of a sum of terms at several points, the positions of what is no choice and is active.
void expect_gradient(const GpAcquisition& acquisition) {
  const MatrixXd rows = mixed_rows(6, 77);
  const VectorXd together = acquisition.of_all(rows);
  for (Index i = 0; i < rows.rows(); ++i) {
    VectorXd gradient;
    const double value = acquisition.of(rows.row(i), gradient);
    EXPECT_NEAR(value, together[i], 1e-6 * std::max(1.0, std::abs(value)));
    for (const Index j : {0, 1, 3}) {
      if (std::isnan(rows(i, j))) {
        EXPECT_EQ(gradient[j], 0);
        continue;
      }
      RowVectorXd row = rows.row(i);
      const SmoothFunction along = [&](const VectorXd& at, VectorXd&) {
        VectorXd unused;
        row[j] = at[0];
        return acquisition.of(row, unused);
      };
      const double expected = gradient_by_differences(along, VectorXd::Constant(1, rows(i, j)), 1e-6)[0];
      EXPECT_NEAR(gradient[j], expected, 2e-5 * std::max(1.0, std::abs(expected))) << i << " " << j;
    }
    EXPECT_EQ(gradient[2], 0);
  }
}

TEST(GpAcquisitionTest, GradientsAreThoseOfDifferences) {
  GpAcquisition one;
  one.add(improvement_term(mixed_posterior(1, 1e-3), VectorXd::Constant(1, -1.2)));
  one.add(feasibility_term(mixed_posterior(2, 1e-3), -1.5));
  expect_gradient(one);

  GpAcquisition fantasies;
  Random random(4);
  MatrixXd normals(3, 16);
  for (double& normal : normals.reshaped()) normal = random.normal();
  const GpPosterior pending = mixed_posterior(1, 1e-3).with_fantasies(mixed_rows(3, 30), normals);
  fantasies.add(improvement_term(pending, pending.own_means().colwise().minCoeff()));
  expect_gradient(fantasies);

  GpAcquisition several;
  const std::vector<VectorXd> front = {Eigen::Vector2d(-1.2, 0.2), Eigen::Vector2d(-0.4, -0.9)};
  several.add(hypervolume_term({mixed_posterior(1, 1e-3), mixed_posterior(2, 1e-3)},
                               nondominated_boxes(front, Eigen::Vector2d(1, 1))));
  expect_gradient(several);
}

double overlap(const VectorXd& cost, const CostBox& box) {
  double volume = 1;
  for (Index j = 0; j < cost.size(); ++j) volume *= std::max(0.0, box.high[j] - std::max(box.low[j], cost[j]));
  return volume;
}

// The volume that a cost gains, by counting points.
TEST(NondominatedBoxesTest, AddUpToWhatAPointGains) {
  const std::vector<VectorXd> points = {Eigen::Vector3d(0.1, 0.8, 0.5), Eigen::Vector3d(0.5, 0.5, 0.5),
                                        Eigen::Vector3d(0.8, 0.1, 0.2), Eigen::Vector3d(0.9, 0.9, 0.9),
                                        Eigen::Vector3d(0.5, 0.6, 0.1), Eigen::Vector3d(0.2, 0.2, 2)};
  const VectorXd reference = VectorXd::Ones(3), cost = Eigen::Vector3d(0.2, 0.3, 0.1);
  double volume = 0;
  for (const CostBox& box : nondominated_boxes(points, reference)) volume += overlap(cost, box);
  Random random(8);
  int gained = 0;
  constexpr int kCount = 100'000;
  for (int i = 0; i < kCount; ++i) {
    const Eigen::Vector3d at(random.uniform(), random.uniform(), random.uniform());
    bool is_gained = (at.array() >= cost.array()).all();
    for (const VectorXd& point : points) is_gained = is_gained && !(at.array() >= point.array()).all();
    gained += is_gained ? 1 : 0;
  }
  EXPECT_NEAR(volume, static_cast<double>(gained) / kCount, 0.005);
  EXPECT_EQ(nondominated_boxes({}, reference).size(), 1u);
}

TEST(GpAcquisitionTest, ExpectedHypervolumeIsThatOfDraws) {
  const GpPosterior first = mixed_posterior(1, 0.1), second = mixed_posterior(2, 0.1);
  const std::vector<VectorXd> front = {Eigen::Vector2d(-1, 0.2), Eigen::Vector2d(-0.2, -0.7)};
  const std::vector<CostBox> boxes = nondominated_boxes(front, Eigen::Vector2d(1, 1));
  const RowVectorXd row = mixed_rows(1, 5).row(0);
  const GpMoments one = first.at(row).moments, other = second.at(row).moments;
  Random random(6);
  double sum = 0;
  constexpr int kCount = 50'000;
  for (int i = 0; i < kCount; ++i) {
    const Eigen::Vector2d cost(one.means[0] + one.deviation * random.normal(),
                               other.means[0] + other.deviation * random.normal());
    for (const CostBox& box : boxes) sum += overlap(cost, box);
  }
  GpAcquisition acquisition;
  acquisition.add(hypervolume_term({first, second}, boxes));
  VectorXd gradient;
  EXPECT_NEAR(std::exp(acquisition.of(row, gradient)) / (sum / kCount), 1, 0.03);
}

}  // namespace
}  // namespace trainwarden::tune
