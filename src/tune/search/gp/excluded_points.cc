#include "tune/search/gp/excluded_points.h"

#include <limits>

namespace trainwarden::tune {
namespace {

// Goes through the values of each parameter that is active, the last one first.
class PointCounter {
 public:
  PointCounter(const Space& space, const ExcludedPoints& tried, std::size_t limit)
      : space_(space), tried_(tried), limit_(limit), point_(space.size(), std::numeric_limits<double>::quiet_NaN()) {}

  std::vector<Point> run() {
    from(0);
    return std::move(found_);
  }

 private:
  void from(std::size_t i) {
    if (i == space_.size()) {
      if (space_.meets_constraints(point_) && !tried_.excludes(point_)) found_.push_back(point_);
      return;
    }
    point_[i] = std::numeric_limits<double>::quiet_NaN();
    if (!space_.is_active(point_, i)) return from(i + 1);
    const std::uint64_t count = space_.count_of(i);
    for (std::uint64_t k = 0; k < count && found_.size() < limit_; ++k) {
      point_[i] = space_.from_unit(i, (static_cast<double>(k) + 0.5) / static_cast<double>(count));
      from(i + 1);
    }
  }

  const Space& space_;
  const ExcludedPoints& tried_;
  std::size_t limit_;
  Point point_;
  std::vector<Point> found_;
};

}  // namespace

std::vector<Point> untried_points(const Space& space, const ExcludedPoints& tried, std::size_t limit) {
  return PointCounter(space, tried, limit).run();
}

}  // namespace trainwarden::tune
