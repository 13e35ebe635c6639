#include "ui/views/layers/layer_grid.h"

#include <cmath>
#include <set>

#include <gtest/gtest.h>

#include "ui/views/layers/coarse_order.h"

namespace trainwarden::views {
namespace {

LayerNumber finite(double value) {
  return {LayerNumber::Kind::kFinite, value};
}

TEST(CoarseOrder, GivesEachNumberOnceAndSomeFromEverywhereFirst) {
  for (const std::size_t count : {0, 1, 2, 7, 64, 100, 1000}) {
    CoarseOrder order(count, 10);
    std::set<std::size_t> given;
    std::size_t largest_of_first = 0;
    while (const auto next = order.next()) {
      EXPECT_LT(*next, count);
      EXPECT_TRUE(given.insert(*next).second) << *next << " of " << count << " came twice";
      if (given.size() <= 10) largest_of_first = std::max(largest_of_first, *next);
      EXPECT_EQ(order.left(), count - given.size());
    }
    EXPECT_EQ(given.size(), count);
    EXPECT_GE(largest_of_first * 10, count * 8 - std::min<std::size_t>(count * 8, 80)) << count;
  }
}

TEST(LayerGrid, KeepsTheLargestOfACellWithItsFirstStep) {
  LayerCell cell;
  EXPECT_TRUE(std::isnan(cell.max));
  cell.add(finite(2), 10);
  cell.add(finite(5), 30);
  cell.add(finite(5), 20);  // read later, as steps are read out of order
  cell.add(finite(1), 40);
  EXPECT_EQ(cell.max, 5);
  EXPECT_EQ(cell.max_step, 20);
  EXPECT_EQ(cell.odd_step, -1);
}

TEST(LayerGrid, CountsWhatIsNotFiniteAndKeepsItOutOfTheLargest) {
  LayerCell cell;
  cell.add({LayerNumber::Kind::kNan, 0}, 30);
  cell.add({LayerNumber::Kind::kInf, 0}, 20);
  cell.add({LayerNumber::Kind::kUnknown, 0}, 10);
  EXPECT_TRUE(std::isnan(cell.max));
  EXPECT_EQ(cell.nan, 1U);
  EXPECT_EQ(cell.inf, 1U);
  EXPECT_EQ(cell.odd_step, 20);
}

TEST(LayerGrid, WidensItsColumnsAndLosesNothing) {
  constexpr std::size_t kPlaces = 3 * LayerGrid::kMostColumns + 5;
  LayerGrid grid(2);
  for (std::size_t place = 0; place < kPlaces; ++place) {
    grid.count(place);
    grid.add(0, place, static_cast<std::int64_t>(place), finite(static_cast<double>(place)));
    if (place % 100 == 0) grid.add(1, place, static_cast<std::int64_t>(place), {LayerNumber::Kind::kNan, 0});
  }
  EXPECT_EQ(grid.width(), 4U);
  ASSERT_EQ(grid.columns(), (kPlaces + 3) / 4);
  std::size_t read = 0;
  std::size_t nan = 0;
  for (std::size_t column = 0; column < grid.columns(); ++column) {
    EXPECT_EQ(grid.cell(0, column).max, static_cast<double>(std::min(kPlaces - 1, 4 * column + 3)));
    read += grid.read(column);
    nan += grid.cell(1, column).nan;
  }
  EXPECT_EQ(read, kPlaces);
  EXPECT_EQ(nan, (kPlaces + 99) / 100);
  EXPECT_EQ(grid.cell(1, 25).odd_step, 100);
}

}  // namespace
}  // namespace trainwarden::views
