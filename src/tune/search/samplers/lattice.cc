#include "tune/search/samplers/lattice.h"

#include <algorithm>
#include <limits>

namespace trainwarden::tune {
namespace {

constexpr std::uint64_t kMaxLattice = std::uint64_t{1} << 53;

double value_at(const Space& space, std::size_t i, std::uint64_t index, std::uint64_t count) {
  const auto at = static_cast<double>(index);
  if (count != space.count_of(i)) return space.from_unit(i, (at + 0.5) / static_cast<double>(count));
  if (!space[i].is_number()) return at;
  return space.nearest(i, space[i].min + at * (space[i].step > 0 ? space[i].step : 1));
}

}  // namespace

Lattice::Lattice(const Space& space, std::uint64_t positions) : space_(&space) {
  for (std::size_t i = 0; i < space.size(); ++i) {
    std::uint64_t count = space.count_of(i);
    if (positions > 0 && space[i].is_number() && (count == 0 || count > positions)) count = positions;
    counts_.push_back(count);
    size_ = count == 0 || size_ > kMaxLattice / count ? 0 : size_ * count;
    if (size_ == 0) return;
  }
}

std::optional<Point> Lattice::point(std::uint64_t number) const {
  Point point(space_->size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < space_->size(); ++i) {
    const std::uint64_t digit = number % counts_[i];
    number /= counts_[i];
    if (space_->is_active(point, i)) {
      point[i] = value_at(*space_, i, digit, counts_[i]);
    } else if (digit != 0) {
      return std::nullopt;
    }
  }
  if (!space_->meets_constraints(point)) return std::nullopt;
  return point;
}

}  // namespace trainwarden::tune
