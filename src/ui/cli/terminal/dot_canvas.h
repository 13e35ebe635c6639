// DotCanvas: a plane of dots, two by four to each cell of a screen, as Braille has them.
#pragma once

#include <cstdint>
#include <vector>

#include "ui/cli/terminal/screen.h"

namespace trainwarden::cli {

class DotCanvas {
 public:
  static constexpr int kDotRows = 4, kDotColumns = 2;  // of a cell

  DotCanvas(int rows, int columns);  // of cells

  int dot_rows() const { return rows_ * kDotRows; }
  int dot_columns() const { return columns_ * kDotColumns; }
  // Dots outside of the canvas are left out. A cell has the ink of its newest dot.
  void set(int dot_row, int dot_column, Ink ink);
  void draw_line(int from_row, int from_column, int to_row, int to_column, Ink ink);
  // Cells that have a dot, at this place of the screen.
  void copy_to(Screen& screen, int row, int column) const;

 private:
  struct DotCell {
    std::uint8_t dots = 0;  // as the last byte of U+2800 to U+28FF has them
    Ink ink = Ink::kPlain;
  };
  int rows_;
  int columns_;
  std::vector<DotCell> cells_;
};

}  // namespace trainwarden::cli
