// The functional ANOVA of trees, against variances by hand; and trees themselves.
#include "tune/search/importance/tree_variance.h"

#include <numeric>

#include <gtest/gtest.h>

#include "tune/search/importance/importance_testing.h"

namespace trainwarden::tune {
namespace {

// Two parameters of four equal cells each.
ImportanceSample two_by_four() {
  const Space space = *Space::make({whole_between("a", 0, 3), whole_between("b", 0, 3)});
  ImportanceSample sample;
  std::vector<double> a, b;
  for (int i = 0; i < 16; ++i) {
    a.push_back(i / 4);
    b.push_back(i % 4);
  }
  sample.parameters.emplace_back(space, 0, a);
  sample.parameters.emplace_back(space, 1, b);
  return sample;
}

FilledCells cells_in(const ImportanceSample& sample) {
  return {sample.parameters[0].cells(), sample.parameters[1].cells()};
}

RegressionTree grown(const ImportanceSample& sample, double min_weight) {
  std::vector<RegressionTree::Trial> trials;
  for (std::size_t i = 0; i < sample.trials(); ++i) trials.push_back({i, 1});
  Random random(1);
  return RegressionTree(sample, cells_in(sample), trials, min_weight, random);
}

// A tree with a leaf for each point is the function; parts of its variance are those of the table.
TEST(TreeVarianceTest, OfATreeWithALeafForEachPointTheyAreThoseOfTheFunction) {
  ImportanceSample sample = two_by_four();
  double mean = 0, total = 0, of_a = 0, of_b = 0;
  std::vector<double> rows(4, 0), columns(4, 0);
  for (int i = 0; i < 16; ++i) {
    const double cost = (i / 4) * (i % 4 == 2 ? 3 : 1) + 0.5 * (i % 4) * (i % 4);
    sample.costs.push_back(cost);
    mean += cost / 16;
    rows[static_cast<std::size_t>(i / 4)] += cost / 4;
    columns[static_cast<std::size_t>(i % 4)] += cost / 4;
  }
  for (const double cost : sample.costs) total += (cost - mean) * (cost - mean) / 16;
  for (const double row : rows) of_a += (row - mean) * (row - mean) / 4;
  for (const double column : columns) of_b += (column - mean) * (column - mean) / 4;
  const std::vector<TreeLeaf> leaves = grown(sample, 1).leaves();
  for (const double taken_off : {mean, 0.0, 100.0}) {
    TreeVariance variance(2);
    add_covariance(sample, leaves, leaves, taken_off, 1, variance);
    EXPECT_NEAR(variance.total, total, 1e-9);
    EXPECT_NEAR(variance.single[0], of_a, 1e-9);
    EXPECT_NEAR(variance.single[1], of_b, 1e-9);
    EXPECT_NEAR(variance.pair(0, 1), total - of_a - of_b, 1e-9);
  }
}

TEST(TreeVarianceTest, LeavesCoverTheSpaceAndPredictAsTheTree) {
  ImportanceSample sample = two_by_four();
  for (int i = 0; i < 16; ++i) sample.costs.push_back(i * i % 7);
  const RegressionTree tree = grown(sample, 3);
  double volume = 0;
  for (const TreeLeaf& leaf : tree.leaves()) volume += leaf.volume;
  EXPECT_NEAR(volume, 1, 1e-12);
  const FilledCells cells = cells_in(sample);
  for (std::size_t i = 0; i < 16; ++i) {
    int holding = 0;
    for (const TreeLeaf& leaf : tree.leaves()) {
      const bool holds = std::all_of(leaf.sides.begin(), leaf.sides.end(), [&](const LeafSide& side) {
        return (side.cells >> cells[side.parameter][i] & 1) != 0;
      });
      if (!holds) continue;
      ++holding;
      EXPECT_EQ(leaf.value, tree.predict(cells, i));
    }
    EXPECT_EQ(holding, 1);
  }
}

TEST(TreeVarianceTest, ChoicesAreSplitByTheirMeans) {
  const Space space =
      *Space::make({choice_of("c", {std::string("p"), std::string("q"), std::string("r"), std::string("s")})});
  ImportanceSample sample;
  sample.parameters.emplace_back(space, 0, std::vector<double>{0, 0, 1, 1, 2, 2});
  sample.costs = {5, 5, 1, 1, 5, 5};
  std::vector<RegressionTree::Trial> trials;
  for (std::size_t i = 0; i < 6; ++i) trials.push_back({i, 1});
  Random random(1);
  const FilledCells cells = {sample.parameters[0].cells()};
  const std::vector<TreeLeaf> leaves = RegressionTree(sample, cells, trials, 2, random).leaves();
  ASSERT_EQ(leaves.size(), 2U) << "q, and the others with what was not tried";
  EXPECT_EQ(leaves[0].value, 1);
  EXPECT_NEAR(leaves[0].volume, 0.25, 1e-12);
  EXPECT_EQ(leaves[1].value, 5);
}

}  // namespace
}  // namespace trainwarden::tune
