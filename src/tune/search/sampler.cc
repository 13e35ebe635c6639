#include "tune/search/sampler.h"

#include <limits>

namespace trainwarden::tune {
namespace {

constexpr int kMaxTries = 10'000;

}  // namespace

Random TrialSampler::random_of(const History& history, std::int64_t number) {
  return Random(history.seed, static_cast<std::uint64_t>(number));
}

Point uniform_point(const Space& space, Random& random) {
  Point point(space.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < space.size(); ++i) {
    const double unit = random.uniform();  // also of what is not active, so that the others do not depend on it
    if (space.is_active(point, i)) point[i] = space.from_unit(i, unit);
  }
  return point;
}

Result<Point> random_point(const Space& space, Random& random) {
  for (int i = 0; i < kMaxTries; ++i) {
    Point point = uniform_point(space, random);
    if (space.meets_constraints(point)) return point;
  }
  return Status(Code::kResourceExhausted,
                "no random point meets the constraints between parameters: widen the ranges or drop a constraint");
}

}  // namespace trainwarden::tune
