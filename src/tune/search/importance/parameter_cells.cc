#include "tune/search/importance/parameter_cells.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace trainwarden::tune {
namespace {

// Where a continuum is cut: between neighbours that differ, once a cell has its part of the positions.
std::vector<double> edges_between(std::vector<double> positions) {
  std::sort(positions.begin(), positions.end());
  const double part = static_cast<double>(positions.size()) / static_cast<double>(kMaxCells);
  std::vector<double> edges;
  double next = part;  // so many are below the next edge, or more
  for (std::size_t i = 1; i < positions.size(); ++i) {
    if (positions[i - 1] == positions[i] || static_cast<double>(i) < next || edges.size() + 1 == kMaxCells) continue;
    edges.push_back(0.5 * (positions[i - 1] + positions[i]));
    next = part * (std::floor(static_cast<double>(i) / part) + 1);
  }
  return edges;
}

// The cell of each choice: the ones that were tried most have their own.
std::vector<std::uint8_t> cells_of_choices(std::span<const double> values, std::size_t choices) {
  std::vector<std::size_t> order(choices), trials(choices);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::uint8_t> cells(choices);
  if (choices > kMaxCells) {
    for (const double value : values) {
      if (!std::isnan(value)) ++trials[static_cast<std::size_t>(value)];
    }
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return trials[a] > trials[b]; });
  }
  for (std::size_t i = 0; i < choices; ++i) cells[order[i]] = static_cast<std::uint8_t>(std::min(i, kMaxCells - 1));
  return cells;
}

}  // namespace

ParameterCells::ParameterCells(const Space& space, std::size_t parameter, std::span<const double> values)
    : parameter_(parameter), is_ordered_(space[parameter].is_number() || space[parameter].ordered) {
  const std::uint64_t count = space.count_of(parameter);
  if (!is_ordered_) {
    take_choices(values, count);
    return;
  }
  std::vector<double> positions(values.size());
  std::transform(values.begin(), values.end(), positions.begin(),
                 [&](double value) { return space.to_unit(parameter, value); });
  if (count > 0 && count <= kMaxCells && !space[parameter].log) {
    take_steps(positions, count);
  } else {
    take_continuum(positions);
  }
}

void ParameterCells::take_choices(std::span<const double> values, std::size_t choices) {
  const std::vector<std::uint8_t> cell_of = cells_of_choices(values, choices);
  shares_.assign(std::min(choices, kMaxCells), 0);
  for (const std::uint8_t cell : cell_of) shares_[cell] += 1 / static_cast<double>(choices);
  for (const double value : values) {
    cells_.push_back(std::isnan(value) ? kNoCell : cell_of[static_cast<std::size_t>(value)]);
  }
}

void ParameterCells::take_steps(std::span<const double> positions, std::size_t steps) {
  const auto count = static_cast<double>(steps);
  shares_.assign(steps, 1 / count);
  for (const double position : positions) {
    const double cell = std::clamp(std::floor(position * count), 0.0, count - 1);
    cells_.push_back(std::isnan(position) ? kNoCell : static_cast<std::uint8_t>(cell));
  }
}

void ParameterCells::take_continuum(std::span<const double> positions) {
  std::vector<double> active;
  std::copy_if(positions.begin(), positions.end(), std::back_inserter(active),
               [](double position) { return !std::isnan(position); });
  const std::vector<double> edges = edges_between(std::move(active));
  double below = 0;
  for (const double edge : edges) {
    shares_.push_back(edge - below);
    below = edge;
  }
  shares_.push_back(1 - below);
  for (const double position : positions) {
    const auto cell = std::upper_bound(edges.begin(), edges.end(), position) - edges.begin();
    cells_.push_back(std::isnan(position) ? kNoCell : static_cast<std::uint8_t>(cell));
  }
}

double ParameterCells::share_of(CellSet cells) const {
  double sum = 0;
  for (; cells != 0; cells &= cells - 1) sum += shares_[static_cast<std::size_t>(std::countr_zero(cells))];
  return sum;
}

bool ParameterCells::varies() const {
  std::uint8_t first = kNoCell;
  for (const std::uint8_t cell : cells_) {
    if (cell == kNoCell) continue;
    if (first != kNoCell && cell != first) return true;
    first = cell;
  }
  return false;
}

}  // namespace trainwarden::tune
