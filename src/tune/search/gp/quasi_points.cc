#include "tune/search/gp/quasi_points.h"

#include <cmath>
#include <limits>

namespace trainwarden::tune {

QuasiPoints::QuasiPoints(const Space& space, Random& random) : space_(space) {
  const auto dimensions = static_cast<double>(space.size());
  double root = 1.5;
  for (int i = 0; i < 64; ++i) root = std::pow(1 + root, 1 / (dimensions + 1));
  for (std::size_t i = 0; i < space.size(); ++i) {
    start_.push_back(random.uniform());
    alpha_.push_back(std::pow(root, -static_cast<double>(i + 1)));
  }
}

Point QuasiPoints::point(std::uint64_t index) const {
  Point point(space_.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < space_.size(); ++i) {
    const double at = start_[i] + alpha_[i] * static_cast<double>(index);
    if (space_.is_active(point, i)) point[i] = space_.from_unit(i, at - std::floor(at));
  }
  return point;
}

}  // namespace trainwarden::tune
