// The values of parameters in cells.
#include "tune/search/importance/parameter_cells.h"

#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "tune/search/importance/importance_testing.h"

namespace trainwarden::tune {
namespace {

constexpr double kInactive = std::numeric_limits<double>::quiet_NaN();

ParameterCells cells_of(const Hyperparameter& parameter, const std::vector<double>& values) {
  const Space space = *Space::make({parameter});
  return {space, 0, values};
}

TEST(ParameterCellsTest, WholeNumbersHaveACellEach) {
  const ParameterCells cells = cells_of(whole_between("n", 2, 6), {2, 6, 4, kInactive});
  EXPECT_EQ(cells.count(), 5U);
  EXPECT_EQ(cells.cells(), (std::vector<std::uint8_t>{0, 4, 2, kNoCell}));
  EXPECT_NEAR(cells.share_of(0b10001), 0.4, 1e-12);
  EXPECT_EQ(cells.all(), 0b11111U);
}

TEST(ParameterCellsTest, AContinuumIsCutBetweenTheValuesThatWereTried) {
  const ParameterCells cells = cells_of(number_between("x", 0, 10), {1, 3, 3, 9});
  ASSERT_EQ(cells.count(), 3U);
  EXPECT_EQ(cells.cells(), (std::vector<std::uint8_t>{0, 1, 1, 2}));
  EXPECT_NEAR(cells.shares()[0], 0.2, 1e-12);
  EXPECT_NEAR(cells.shares()[1], 0.4, 1e-12);
  EXPECT_NEAR(cells.shares()[2], 0.4, 1e-12);
}

TEST(ParameterCellsTest, ManyValuesHaveEquallyManyTrialsInACell) {
  std::vector<double> values;
  for (int i = 0; i < 1000; ++i) values.push_back(0.5 + 0.001 * i / 1000);
  const ParameterCells cells = cells_of(number_between("x", 0, 1), values);
  EXPECT_EQ(cells.count(), kMaxCells);
  std::vector<int> trials(kMaxCells, 0);
  for (const std::uint8_t cell : cells.cells()) ++trials[cell];
  for (const int each : trials) EXPECT_NEAR(each, 1000.0 / kMaxCells, 2);
  EXPECT_NEAR(std::accumulate(cells.shares().begin(), cells.shares().end(), 0.0), 1, 1e-12);
  EXPECT_EQ(cells.all(), ~CellSet{0});
}

TEST(ParameterCellsTest, RareChoicesShareACell) {
  std::vector<TriedValue> choices;
  for (std::int64_t i = 0; i < 100; ++i) choices.emplace_back(i);
  const ParameterCells cells = cells_of(choice_of("c", choices), {99, 99, 50});
  EXPECT_EQ(cells.count(), kMaxCells);
  EXPECT_EQ(cells.cells(), (std::vector<std::uint8_t>{0, 0, 1}));
  EXPECT_NEAR(cells.shares()[0], 0.01, 1e-12);
  EXPECT_NEAR(cells.shares()[kMaxCells - 1], 0.37, 1e-12);
}

TEST(ParameterCellsTest, OneValueDoesNotVary) {
  EXPECT_FALSE(cells_of(number_between("x", 0, 1), {0.5, kInactive, 0.5}).varies());
  EXPECT_FALSE(cells_of(number_between("x", 0, 1), {kInactive}).varies());
  EXPECT_TRUE(cells_of(number_between("x", 0, 1), {0.5, 0.25}).varies());
}

}  // namespace
}  // namespace trainwarden::tune
