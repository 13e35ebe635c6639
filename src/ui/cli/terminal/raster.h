// Raster: a tensor laid out as a plane of cells, small enough to look at.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trainwarden/tensor_view.h"

namespace trainwarden::cli {

// How a cell is to be read. Several elements that share a cell show the worst of them: NaN, then an infinity, else
// the mean of their values.
enum class CellKind : std::uint8_t { kValue, kNan, kPositiveInfinity, kNegativeInfinity, kGap };

struct Cell {
  CellKind kind = CellKind::kGap;
  double value = 0;  // of kValue
  friend bool operator==(const Cell&, const Cell&) = default;
};

struct Raster {
  int rows = 0;
  int columns = 0;
  std::vector<Cell> cells;  // row-major
  std::string note;         // what is not shown as it is: "each cell is the mean of 4 x 4 elements", or ""

  const Cell& at(int row, int column) const { return cells[static_cast<std::size_t>(row * columns + column)]; }
};

// A vector is one row, a matrix is itself, [.., h, w] is a grid of h x w tiles with gaps between; what does not fit
// into the limits is shrunk (one tile) or left out from the end (tiles). A scalar is one cell.
// `elements` are row-major, as many as `shape` says. Limits are at least 1.
Raster lay_out(std::span<const double> elements, const Shape& shape, int max_rows, int max_columns);

}  // namespace trainwarden::cli
