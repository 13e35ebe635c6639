#include "ui/cli/terminal/chart.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "ui/cli/terminal/dot_canvas.h"

namespace trainwarden::cli {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<ChartPoint> points_of(const std::vector<double>& values) {
  std::vector<ChartPoint> points;
  for (std::size_t i = 0; i < values.size(); ++i) points.push_back({static_cast<double>(i), values[i]});
  return points;
}
ChartSeries series_of(const std::vector<double>& values, char letter = 'a') {
  return {.name = "loss", .letter = letter, .points = points_of(values)};
}
std::string lines_of(const std::vector<ChartSeries>& series, const ChartLook& look, int rows, int columns) {
  Screen screen(rows, columns);
  draw_lines(series, look, {0, 0, rows, columns}, screen);
  return "\n" + screen.to_text();
}

TEST(DotCanvasTest, HasEachDotOfACell) {
  Screen screen(1, 2);
  DotCanvas canvas(1, 2);
  for (int row = 0; row < 4; ++row) canvas.set(row, 0, Ink::kPlain);
  canvas.set(0, 3, Ink::kPlain);
  canvas.set(4, 0, Ink::kPlain);  // outside
  canvas.set(0, -1, Ink::kPlain);
  canvas.copy_to(screen, 0, 0);
  EXPECT_EQ(screen.to_text(), "⡇⠈\n");
}

TEST(DotCanvasTest, DrawsLinesBothWays) {
  for (const bool forward : {true, false}) {
    Screen screen(2, 4);
    DotCanvas canvas(2, 4);
    if (forward) canvas.draw_line(7, 0, 0, 7, Ink::kPlain);
    if (!forward) canvas.draw_line(0, 7, 7, 0, Ink::kPlain);
    canvas.copy_to(screen, 0, 0);
    EXPECT_EQ(screen.to_text(), "  ⡠⠊\n⡠⠊\n");
  }
}

TEST(ChartTest, DrawsALineOfDots) {
  EXPECT_EQ(lines_of({series_of({4, 3, 2, 1, 0})}, {}, 2, 4), "\n⠑⢄\n  ⠑⢄\n");
}

TEST(ChartTest, MarksWhatIsNoNumberAndDoesNotJoinOverIt) {
  EXPECT_EQ(lines_of({series_of({0, kNan, 0, kInfinity, -kInfinity})}, {}, 3, 5), "\n   ^\n⠄ ⠠\n !  v\n");
}

TEST(ChartTest, TellsSeriesApartByLettersWhereThereAreNoDots) {
  const ChartLook look{ChartInk::kLetters, false};
  EXPECT_EQ(lines_of({series_of({0, 1, 2, 3}), series_of({3, 3, 3, 3}, 'b')}, look, 4, 4), "\nbbbb\n  a\n a\na\n");
}

TEST(ChartTest, DrawsLogarithms) {
  const ChartLook look{ChartInk::kLetters, true};
  EXPECT_EQ(lines_of({series_of({1000, 100, 10, 1})}, look, 4, 4), "\na\n a\n  a\n   a\n");
  EXPECT_EQ(lines_of({series_of({100, 0, 1})}, look, 3, 3), "\na\n\n va\n") << "zero has no logarithm";
}

TEST(ChartTest, FindsARangeWhereThereIsNone) {
  EXPECT_EQ(y_range({series_of({kNan})}, false).high, 1);
  EXPECT_EQ(y_range({series_of({0, 0})}, false).low, -1);
  const ChartRange same = y_range({series_of({5, 5})}, false);
  EXPECT_LT(same.low, 5);
  EXPECT_GT(same.high, 5);
}

TEST(ChartTest, WritesItsScale) {
  Screen screen(6, 30);
  draw_chart({series_of({8, 6, 4, 2, 0})}, {ChartInk::kLetters, false}, "step", {0, 0, 6, 30}, screen);
  EXPECT_EQ(screen.to_text(),
            "         8|a\n"
            "          |     a\n"
            "          |         a    a\n"
            "         0|                  a\n"
            "          +-------------------\n"
            "           0      step       4\n");
}

TEST(ChartTest, DrawsNothingWhereThereIsNoRoom) {
  Screen screen(2, 10);
  draw_chart({series_of({1, 2})}, {}, "step", {0, 0, 2, 10}, screen);
  draw_lines({series_of({1, 2})}, {}, {0, 0, 0, 0}, screen);
  EXPECT_EQ(screen.to_text(), "");
}

TEST(SparklineTest, DrawsBarsOfAllHeights) {
  EXPECT_EQ(sparkline(points_of({0, 1, 2, 3, 4, 5, 6, 7}), 8, true), "▁▂▃▄▅▆▇█");
  EXPECT_EQ(sparkline(points_of({0, 1, 2, 3, 4, 5, 6, 7}), 8, false), "_.,-~=*#");
}
TEST(SparklineTest, OverlooksNothingThatIsNoNumber) {
  EXPECT_EQ(sparkline(points_of({0, 1, kNan, 1, kInfinity, 1}), 3, false), "#!^");
  EXPECT_EQ(sparkline(points_of({-kInfinity}), 1, true), "v");
}
TEST(SparklineTest, IsBlankWhereNothingIs) {
  EXPECT_EQ(sparkline({}, 4, true), "    ");
  EXPECT_EQ(sparkline(points_of({3, 4}), 4, true), "▁▁▁█") << "between two points the one before holds";
}

}  // namespace
}  // namespace trainwarden::cli
