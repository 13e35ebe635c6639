#include "ui/cli/terminal/raster.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace trainwarden::cli {
namespace {

// A plane of elements inside the tensor.
struct Matrix {
  std::span<const double> elements;
  std::int64_t rows = 0;
  std::int64_t columns = 0;

  double at(std::int64_t row, std::int64_t column) const {
    return elements[static_cast<std::size_t>(row * columns + column)];
  }
};

// Elements to a cell, along each dimension.
struct Shrink {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  bool any() const { return rows > 1 || columns > 1; }
};

std::int64_t divide_up(std::int64_t value, std::int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

Cell summarize(const Matrix& plane, const Shrink& shrink, std::int64_t top, std::int64_t left) {
  double sum = 0;
  std::int64_t finite_count = 0;
  CellKind infinity = CellKind::kGap;
  for (std::int64_t row = top; row < std::min(top + shrink.rows, plane.rows); ++row) {
    for (std::int64_t column = left; column < std::min(left + shrink.columns, plane.columns); ++column) {
      const double value = plane.at(row, column);
      if (std::isnan(value)) return {CellKind::kNan, 0};
      if (std::isinf(value)) {
        infinity = value > 0 ? CellKind::kPositiveInfinity : CellKind::kNegativeInfinity;
        continue;
      }
      sum += value;
      ++finite_count;
    }
  }
  if (infinity != CellKind::kGap) return {infinity, 0};
  return {CellKind::kValue, sum / static_cast<double>(finite_count)};
}

// Draws `plane` with its upper left corner at (top, left) of the raster.
void draw(const Matrix& plane, const Shrink& shrink, int top, int left, Raster& raster) {
  for (std::int64_t row = 0; row < divide_up(plane.rows, shrink.rows); ++row) {
    for (std::int64_t column = 0; column < divide_up(plane.columns, shrink.columns); ++column) {
      const auto index = static_cast<std::size_t>((top + row) * raster.columns + left + column);
      raster.cells[index] = summarize(plane, shrink, row * shrink.rows, column * shrink.columns);
    }
  }
}

Raster blank(std::int64_t rows, std::int64_t columns) {
  Raster raster;
  raster.rows = static_cast<int>(rows);
  raster.columns = static_cast<int>(columns);
  raster.cells.resize(static_cast<std::size_t>(rows * columns));
  return raster;
}

std::string note_of(const Shrink& shrink) {
  return fmt::format("each cell is the mean of {} x {} elements", shrink.rows, shrink.columns);
}

// One plane, shrunk by whole factors until it fits. A matrix keeps its proportions; a vector has only a length.
Raster lay_out_plane(const Matrix& plane, int max_rows, int max_columns) {
  Shrink shrink{divide_up(plane.rows, max_rows), divide_up(plane.columns, max_columns)};
  if (plane.rows > 1) shrink.rows = shrink.columns = std::max(shrink.rows, shrink.columns);
  Raster raster = blank(divide_up(plane.rows, shrink.rows), divide_up(plane.columns, shrink.columns));
  draw(plane, shrink, 0, 0, raster);
  if (shrink.any()) raster.note = note_of(shrink);
  return raster;
}

// Planes as tiles in reading order, a gap of one cell between them.
Raster lay_out_tiles(const Matrix& all, std::int64_t tile_count, int max_rows, int max_columns) {
  const std::int64_t factor = std::max(divide_up(all.rows, max_rows), divide_up(all.columns, max_columns));
  const Shrink shrink{factor, factor};
  const std::int64_t tile_rows = divide_up(all.rows, factor);
  const std::int64_t tile_columns = divide_up(all.columns, factor);
  const std::int64_t most_across = std::clamp<std::int64_t>((max_columns + 1) / (tile_columns + 1), 1, tile_count);
  const std::int64_t most_down = std::max<std::int64_t>((max_rows + 1) / (tile_rows + 1), 1);
  const std::int64_t down = std::min(most_down, divide_up(tile_count, most_across));
  const std::int64_t across = std::min(most_across, divide_up(tile_count, down));  // rows of equal length
  const std::int64_t shown = std::min(tile_count, across * down);

  Raster raster = blank(down * (tile_rows + 1) - 1, across * (tile_columns + 1) - 1);
  const auto tile_elements = static_cast<std::size_t>(all.rows * all.columns);
  for (std::int64_t i = 0; i < shown; ++i) {
    const auto first = static_cast<std::size_t>(i) * tile_elements;
    draw({all.elements.subspan(first, tile_elements), all.rows, all.columns}, shrink,
         static_cast<int>(i / across * (tile_rows + 1)), static_cast<int>(i % across * (tile_columns + 1)), raster);
  }
  if (shown < tile_count) raster.note = fmt::format("the first {} of {} tiles", shown, tile_count);
  if (shrink.any()) raster.note += (raster.note.empty() ? "" : "; ") + note_of(shrink);
  return raster;
}

}  // namespace

Raster lay_out(std::span<const double> elements, const Shape& shape, int max_rows, int max_columns) {
  if (elements.empty()) return {};
  const int rank = shape.rank();
  const std::int64_t columns = rank == 0 ? 1 : shape[rank - 1];
  const std::int64_t rows = rank < 2 ? 1 : shape[rank - 2];
  const std::int64_t plane_count = shape.element_count() / (rows * columns);
  const Matrix all{elements, rows, columns};
  return plane_count == 1 ? lay_out_plane(all, max_rows, max_columns)
                          : lay_out_tiles(all, plane_count, max_rows, max_columns);
}

}  // namespace trainwarden::cli
