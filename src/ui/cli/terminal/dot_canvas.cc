#include "ui/cli/terminal/dot_canvas.h"

#include <algorithm>
#include <cstdlib>

#include "ui/cli/terminal/characters.h"

namespace trainwarden::cli {

DotCanvas::DotCanvas(int rows, int columns)
    : rows_(rows), columns_(columns), cells_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

void DotCanvas::set(int dot_row, int dot_column, Ink ink) {
  // Six dots came first, column by column; the seventh and eighth were put below (Unicode's block Braille Patterns).
  constexpr std::uint8_t kBits[kDotRows][kDotColumns] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  if (dot_row < 0 || dot_column < 0 || dot_row >= dot_rows() || dot_column >= dot_columns()) return;
  DotCell& cell = cells_[static_cast<std::size_t>(dot_row / kDotRows * columns_ + dot_column / kDotColumns)];
  cell.dots = static_cast<std::uint8_t>(cell.dots | kBits[dot_row % kDotRows][dot_column % kDotColumns]);
  cell.ink = ink;
}

// Bresenham's.
void DotCanvas::draw_line(int from_row, int from_column, int to_row, int to_column, Ink ink) {
  const int columns = std::abs(to_column - from_column), rows = -std::abs(to_row - from_row);
  const int column_step = from_column < to_column ? 1 : -1, row_step = from_row < to_row ? 1 : -1;
  int error = columns + rows;
  while (true) {
    set(from_row, from_column, ink);
    if (from_row == to_row && from_column == to_column) return;
    const int doubled = 2 * error;
    if (doubled >= rows) error += rows, from_column += column_step;
    if (doubled <= columns) error += columns, from_row += row_step;
  }
}

void DotCanvas::copy_to(Screen& screen, int row, int column) const {
  constexpr char32_t kNoDots = 0x2800;
  for (int r = 0; r < rows_; ++r) {
    for (int c = 0; c < columns_; ++c) {
      const DotCell& cell = cells_[static_cast<std::size_t>(r * columns_ + c)];
      if (cell.dots == 0) continue;
      screen.put(row + r, column + c, to_utf8(std::u32string(1, kNoDots + cell.dots)), cell.ink);
    }
  }
}

}  // namespace trainwarden::cli
