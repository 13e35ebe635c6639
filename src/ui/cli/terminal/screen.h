// Screen: what a terminal is to show, as cells, and the bytes that make it show that.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ui/cli/terminal/terminal.h"

namespace trainwarden::cli {

// What a text means; how that looks is up to the terminal. Nothing is said by colour alone.
enum class Ink : std::uint8_t {
  kPlain,
  kDim,     // said again, or of little weight
  kStrong,  // headings, what is chosen
  kGood,
  kBad,
  kNote,  // neither: under way
  kSeries0,
  kSeries1,
  kSeries2,
  kSeries3,
  kSeries4,
  kSeries5,
};
inline constexpr int kSeriesInks = 6;
Ink series_ink(int series);  // of the n-th series, over and over

struct ScreenCell {
  std::u32string text = U" ";  // one character and what joins it; empty: the cell before takes two
  Ink ink = Ink::kPlain;
  bool inverse = false;
  friend bool operator==(const ScreenCell&, const ScreenCell&) = default;
};

class Screen {
 public:
  Screen(int rows, int columns);

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  const ScreenCell& at(int row, int column) const { return cells_[index(row, column)]; }

  // From `column` on, as far as there is room, at most `most` cells; outside of the screen nothing happens. What
  // would drive the terminal or turn the text's direction becomes "?". Returns the column behind what was written.
  int put(int row, int column, std::string_view utf8, Ink ink = Ink::kPlain, int most = 1 << 20);
  void put_right(int row, int end_column, std::string_view utf8, Ink ink = Ink::kPlain);  // ends before end_column
  void fill_row(int row, Ink ink, bool inverse);  // how the whole row looks, whatever it says

  // Rows of text, without colours or blanks at their ends, each ended by a newline; without empty rows at the end.
  std::string to_text() const;
  // The same with the colours that `terminal` has.
  std::string to_lines(const Terminal& terminal) const;

 private:
  friend std::string changes(const Screen* before, const Screen& after, const Terminal& terminal);
  std::size_t index(int row, int column) const { return static_cast<std::size_t>(row * columns_ + column); }

  int rows_;
  int columns_;
  std::vector<ScreenCell> cells_;
};

// The bytes that turn what a terminal shows from `before` into `after`: only cells that differ are written. Without a
// `before`, or when the size is another, all of them are, on a cleared terminal.
std::string changes(const Screen* before, const Screen& after, const Terminal& terminal);

}  // namespace trainwarden::cli
