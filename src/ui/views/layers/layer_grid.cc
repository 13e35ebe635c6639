#include "ui/views/layers/layer_grid.h"

#include <cmath>

namespace trainwarden::views {

void LayerCell::add(const LayerNumber& value, std::int64_t step) {
  LayerCell one;
  switch (value.kind) {
    case LayerNumber::Kind::kUnknown: return;
    case LayerNumber::Kind::kFinite:
      one.max = value.value;
      one.max_step = step;
      break;
    case LayerNumber::Kind::kNan: one.nan = 1; break;
    case LayerNumber::Kind::kInf: one.inf = 1; break;
  }
  if (value.kind != LayerNumber::Kind::kFinite) one.odd_step = step;
  add(one);
}

void LayerCell::add(const LayerCell& other) {
  nan += other.nan;
  inf += other.inf;
  if (other.odd_step >= 0 && (odd_step < 0 || other.odd_step < odd_step)) odd_step = other.odd_step;
  if (std::isnan(other.max)) return;
  const bool is_earlier = other.max == max && other.max_step < max_step;
  if (!std::isnan(max) && other.max <= max && !is_earlier) return;
  max = other.max;
  max_step = other.max_step;
}

void LayerGrid::add(std::size_t layer, std::size_t place, std::int64_t step, const LayerNumber& value) {
  make_room(place);
  cells_[place / width_ * layers_ + layer].add(value, step);
}

void LayerGrid::count(std::size_t place) {
  make_room(place);
  ++read_[place / width_];
}

void LayerGrid::make_room(std::size_t place) {
  while (place / width_ >= kMostColumns) widen();
  if (place / width_ < columns()) return;
  read_.resize(place / width_ + 1);
  cells_.resize(read_.size() * layers_);
}

void LayerGrid::widen() {
  width_ *= 2;
  for (std::size_t column = 1; column < columns(); ++column) {
    read_[column / 2] = column % 2 == 0 ? read_[column] : read_[column / 2] + read_[column];
    for (std::size_t layer = 0; layer < layers_; ++layer) {
      const LayerCell cell = cells_[column * layers_ + layer];
      LayerCell& joined = cells_[column / 2 * layers_ + layer];
      if (column % 2 == 0) joined = LayerCell();
      joined.add(cell);
    }
  }
  read_.resize((columns() + 1) / 2);
  cells_.resize(read_.size() * layers_);
}

}  // namespace trainwarden::views
