#include "ui/cli/terminal/chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "ui/cli/terminal/characters.h"
#include "ui/cli/terminal/dot_canvas.h"

namespace trainwarden::cli {
namespace {

double scaled(double y, bool log) {
  return log && std::isfinite(y) ? (y > 0 ? std::log10(y) : std::numeric_limits<double>::quiet_NaN()) : y;
}

class RangeFinder {
 public:
  void add(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }
  ChartRange range() const {
    if (low_ > high_) return {0, 1};
    if (low_ < high_) return {low_, high_};
    const double margin = low_ == 0 ? 1 : std::abs(low_) * 0.1;
    return {low_ - margin, low_ + margin};
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

// What a value that is no number looks like, and whether at the head of the chart.
struct OddMark {
  const char* text;
  bool at_top;
};
OddMark mark_of(double y) {
  if (std::isnan(y)) return {"!", false};
  return y > 0 ? OddMark{"^", true} : OddMark{"v", false};  // also what has no logarithm
}

// Where the points of all series come to lie, in units of `columns` by `rows`.
class Plane {
 public:
  Plane(const std::vector<ChartSeries>& series, bool log, int columns, int rows)
      : x_(x_range(series)), y_(y_range(series, log)), log_(log), columns_(columns), rows_(rows) {}

  int column(double x) const {
    return std::clamp(static_cast<int>(std::lround(x_.position(x) * (columns_ - 1))), 0, columns_ - 1);
  }
  // None when there is no place for it.
  std::optional<int> row(double y) const {
    const double value = scaled(y, log_);
    if (!std::isfinite(value)) return std::nullopt;
    return std::clamp(static_cast<int>(std::lround((1 - y_.position(value)) * (rows_ - 1))), 0, rows_ - 1);
  }

 private:
  ChartRange x_, y_;
  bool log_;
  int columns_;
  int rows_;
};

void draw_dots(const ChartSeries& series, Ink ink, const Plane& plane, DotCanvas& canvas) {
  std::optional<std::pair<int, int>> before;
  for (const ChartPoint& point : series.points) {
    const auto row = plane.row(point.y);
    if (!row) {
      before.reset();
      continue;
    }
    const std::pair here(*row, plane.column(point.x));
    if (before) {
      canvas.draw_line(before->first, before->second, here.first, here.second, ink);
    } else {
      canvas.set(here.first, here.second, ink);
    }
    before = here;
  }
}

void draw_letters(const ChartSeries& series, Ink ink, const Plane& plane, const ScreenArea& area, Screen& screen) {
  for (const ChartPoint& point : series.points) {
    const auto row = plane.row(point.y);
    if (row) {
      screen.put(area.row + *row, area.column + plane.column(point.x), std::string_view(&series.letter, 1), ink);
    }
  }
}

void mark_odd_values(const std::vector<ChartSeries>& series, const Plane& plane, const ScreenArea& area,
                     Screen& screen) {
  for (const ChartSeries& one : series) {
    for (const ChartPoint& point : one.points) {
      if (plane.row(point.y)) continue;
      const OddMark mark = mark_of(point.y);
      const int row = mark.at_top ? area.row : area.row + area.rows - 1;
      screen.put(row, area.column + plane.column(point.x), mark.text, Ink::kBad);
    }
  }
}

std::string scale_text(double value, bool log) {
  return fmt::format("{:.4g}", log ? std::pow(10, value) : value);
}

}  // namespace

ChartRange x_range(const std::vector<ChartSeries>& series) {
  RangeFinder finder;
  for (const ChartSeries& one : series) {
    for (const ChartPoint& point : one.points) finder.add(point.x);
  }
  return finder.range();
}

ChartRange y_range(const std::vector<ChartSeries>& series, bool log) {
  RangeFinder finder;
  for (const ChartSeries& one : series) {
    for (const ChartPoint& point : one.points) finder.add(scaled(point.y, log));
  }
  return finder.range();
}

void draw_lines(const std::vector<ChartSeries>& series, const ChartLook& look, const ScreenArea& area, Screen& screen) {
  if (area.rows < 1 || area.columns < 1) return;
  if (look.ink == ChartInk::kBraille) {
    DotCanvas canvas(area.rows, area.columns);
    const Plane plane(series, look.log, canvas.dot_columns(), canvas.dot_rows());
    for (std::size_t i = 0; i < series.size(); ++i) {
      draw_dots(series[i], series_ink(static_cast<int>(i)), plane, canvas);
    }
    canvas.copy_to(screen, area.row, area.column);
  }
  const Plane plane(series, look.log, area.columns, area.rows);
  for (std::size_t i = 0; i < series.size() && look.ink == ChartInk::kLetters; ++i) {
    draw_letters(series[i], series_ink(static_cast<int>(i)), plane, area, screen);
  }
  mark_odd_values(series, plane, area, screen);
}

void draw_chart(const std::vector<ChartSeries>& series, const ChartLook& look, const std::string& x_title,
                const ScreenArea& area, Screen& screen) {
  constexpr int kScaleColumns = 10;  // "-1.234e-05"
  if (area.rows < 3 || area.columns < kScaleColumns + 6) return;
  const ScreenArea plot{area.row, area.column + kScaleColumns + 1, area.rows - 2, area.columns - kScaleColumns - 1};
  const ChartRange y = y_range(series, look.log), x = x_range(series);
  const bool unicode = look.ink == ChartInk::kBraille;
  for (int row = 0; row < plot.rows; ++row) {
    screen.put(plot.row + row, plot.column - 1, unicode ? "│" : "|", Ink::kDim);
    const bool labelled = row == 0 || row == plot.rows - 1 || (plot.rows >= 7 && row == plot.rows / 2);
    if (!labelled) continue;
    const double share = plot.rows > 1 ? static_cast<double>(row) / (plot.rows - 1) : 0.5;
    screen.put_right(plot.row + row, plot.column - 1, scale_text(y.high - share * (y.high - y.low), look.log),
                     Ink::kDim);
  }
  const int foot = plot.row + plot.rows;
  screen.put(foot, plot.column - 1, unicode ? "└" : "+", Ink::kDim);
  for (int column = 0; column < plot.columns; ++column) {
    screen.put(foot, plot.column + column, unicode ? "─" : "-", Ink::kDim);
  }
  screen.put(foot + 1, plot.column, fmt::format("{:.9g}", x.low), Ink::kDim);
  screen.put_right(foot + 1, plot.column + plot.columns, fmt::format("{:.9g}", x.high), Ink::kDim);
  screen.put(foot + 1, plot.column + (plot.columns - text_cells(x_title)) / 2, x_title, Ink::kDim);
  draw_lines(series, look, plot, screen);
}

std::string sparkline(const std::vector<ChartPoint>& points, int columns, bool unicode) {
  constexpr std::array kBars = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::string_view kAscii = "_.,-~=*#";
  const std::vector<ChartSeries> all = {{.name = {}, .letter = 'a', .points = points}};
  const ChartRange x = x_range(all), y = y_range(all, false);
  std::vector<double> newest(static_cast<std::size_t>(columns), 0);
  std::vector<bool> has(static_cast<std::size_t>(columns), false);
  for (const ChartPoint& point : points) {
    const double place = x.position(point.x) * columns;
    const auto column = static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(columns - 1)));
    const bool keeps_odd = has[column] && !std::isfinite(newest[column]);  // a NaN must not be overlooked
    if (!keeps_odd) newest[column] = point.y;
    has[column] = true;
  }
  std::string line;
  for (std::size_t column = 0; column < newest.size(); ++column) {
    if (column > 0 && !has[column] && has[column - 1]) {  // between two points the one before holds
      newest[column] = newest[column - 1];
      has[column] = true;
    }
    if (!has[column]) {
      line += ' ';
    } else if (!std::isfinite(newest[column])) {
      line += mark_of(newest[column]).text;
    } else {
      const auto height = static_cast<std::size_t>(std::lround(y.position(newest[column]) * (kBars.size() - 1)));
      if (unicode) {
        line += kBars[height];
      } else {
        line += kAscii[height];
      }
    }
  }
  return line;
}

}  // namespace trainwarden::cli
