// Chart: series of numbers over steps or time, as lines on a terminal.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ui/cli/terminal/screen.h"

namespace trainwarden::cli {

struct ChartPoint {
  double x = 0;
  double y = 0;  // NaN and infinities are marked, not joined
};

struct ChartSeries {
  std::string name;
  char letter = 'a';               // stands for it where there is no colour
  std::vector<ChartPoint> points;  // by x
};

// Where the series lie.
struct ChartRange {
  double low = 0;
  double high = 1;
  double position(double value) const { return (value - low) / (high - low); }  // 0 at low, 1 at high
};

enum class ChartInk : std::uint8_t {
  kBraille,  // lines of dots, two by four to a cell
  kLetters,  // a letter for each series
};

struct ChartLook {
  ChartInk ink = ChartInk::kBraille;
  bool log = false;  // y is drawn by its logarithm; what is not above zero is marked as below the chart
};

// A part of a screen.
struct ScreenArea {
  int row = 0;
  int column = 0;
  int rows = 0;
  int columns = 0;
};

// The range of all finite values: with a margin when they are all the same, and [0, 1] when there is none.
ChartRange x_range(const std::vector<ChartSeries>& series);
ChartRange y_range(const std::vector<ChartSeries>& series, bool log);

// The lines alone: each series with series_ink() of its place in the list. A value that is no number is marked at the
// foot of its column ("!" for NaN) or at the edge that it lies beyond ("^" and "v").
void draw_lines(const std::vector<ChartSeries>& series, const ChartLook& look, const ScreenArea& area, Screen& screen);

// The lines with a scale on the left and below; needs 3 rows and 16 columns. `x_title` is said below.
void draw_chart(const std::vector<ChartSeries>& series, const ChartLook& look, const std::string& x_title,
                const ScreenArea& area, Screen& screen);

// Numbers as a line of bars, one for each of `columns` parts of the points: "▁▂▄█", '!' for NaN, '^' and 'v' for
// infinities. In ASCII by heights from '_' to '#'.
std::string sparkline(const std::vector<ChartPoint>& points, int columns, bool unicode);

}  // namespace trainwarden::cli
