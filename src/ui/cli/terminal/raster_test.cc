#include "ui/cli/terminal/raster.h"

#include <limits>
#include <numeric>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

constexpr double kRasterNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kRasterInfinity = std::numeric_limits<double>::infinity();

std::vector<double> count_up(std::int64_t count) {
  std::vector<double> elements(static_cast<std::size_t>(count));
  std::iota(elements.begin(), elements.end(), 0.0);
  return elements;
}

Cell value(double v) {
  return {CellKind::kValue, v};
}

TEST(Raster, AMatrixIsItselfWhenItFits) {
  const Raster raster = lay_out(count_up(6), {2, 3}, 10, 10);
  EXPECT_EQ(raster.rows, 2);
  EXPECT_EQ(raster.columns, 3);
  EXPECT_EQ(raster.at(0, 0), value(0));
  EXPECT_EQ(raster.at(1, 2), value(5));
  EXPECT_EQ(raster.note, "");
}

TEST(Raster, AVectorIsOneRowAndShrinksInLengthOnly) {
  const Raster raster = lay_out(count_up(8), {8}, 4, 4);
  EXPECT_EQ(raster.rows, 1);
  EXPECT_EQ(raster.columns, 4);
  EXPECT_EQ(raster.at(0, 0), value(0.5));
  EXPECT_EQ(raster.at(0, 3), value(6.5));
  EXPECT_EQ(raster.note, "each cell is the mean of 1 x 2 elements");
}

TEST(Raster, ALargeMatrixShrinksInProportion) {
  const Raster raster = lay_out(count_up(64), {8, 8}, 100, 4);
  EXPECT_EQ(raster.rows, 4);
  EXPECT_EQ(raster.columns, 4);
  EXPECT_EQ(raster.at(0, 0), value((0 + 1 + 8 + 9) / 4.0));
}

TEST(Raster, ASingleNanIsNotHiddenByTheMean) {
  std::vector<double> elements = count_up(16);
  elements[5] = kRasterNan;
  elements[2] = kRasterInfinity;
  elements[15] = -kRasterInfinity;
  const Raster raster = lay_out(elements, {4, 4}, 2, 2);
  EXPECT_EQ(raster.at(0, 0).kind, CellKind::kNan);
  EXPECT_EQ(raster.at(0, 1).kind, CellKind::kPositiveInfinity);
  EXPECT_EQ(raster.at(1, 0).kind, CellKind::kValue);
  EXPECT_EQ(raster.at(1, 1).kind, CellKind::kNegativeInfinity);
}

TEST(Raster, FiltersAreTilesWithGapsBetween) {
  const Raster raster = lay_out(count_up(6 * 4), {3, 2, 2, 2}, 20, 8);  // six tiles of 2 x 2, three fit across
  EXPECT_EQ(raster.columns, 8);
  EXPECT_EQ(raster.rows, 5);
  EXPECT_EQ(raster.at(0, 0), value(0));
  EXPECT_EQ(raster.at(0, 2).kind, CellKind::kGap);
  EXPECT_EQ(raster.at(0, 3), value(4));  // second tile
  EXPECT_EQ(raster.at(2, 0).kind, CellKind::kGap);
  EXPECT_EQ(raster.at(3, 0), value(12));  // fourth tile
  EXPECT_EQ(raster.at(4, 7), value(23));
}

TEST(Raster, SpreadsTilesEvenlyOverTheRows) {
  const Raster raster = lay_out(count_up(5 * 4), {5, 2, 2}, 20, 12);  // four would fit across
  EXPECT_EQ(raster.columns, 8);
  EXPECT_EQ(raster.rows, 5);
}

TEST(Raster, SaysHowManyTilesAreNotShown) {
  const Raster raster = lay_out(count_up(256 * 16), {256, 1, 4, 4}, 9, 14);
  EXPECT_EQ(raster.note, "the first 6 of 256 tiles");
  EXPECT_EQ(raster.rows, 9);
  EXPECT_EQ(raster.columns, 14);
}

TEST(Raster, ATileLargerThanTheScreenShrinks) {
  const Raster raster = lay_out(count_up(2 * 100), {2, 10, 10}, 5, 5);
  EXPECT_LE(raster.rows, 5);
  EXPECT_LE(raster.columns, 5);
}

TEST(Raster, ScalarsAndEmptyTensors) {
  EXPECT_EQ(lay_out(count_up(1), {}, 5, 5).at(0, 0), value(0));
  EXPECT_TRUE(lay_out({}, {0, 3}, 5, 5).cells.empty());
}

}  // namespace
}  // namespace trainwarden::cli
