#include "tune/search/samplers/startup.h"

#include <algorithm>
#include <limits>

#include "tune/search/sampler.h"

namespace trainwarden::tune {
namespace {

double number_of_first(const Hyperparameter& parameter) {
  if (!parameter.first) return std::numeric_limits<double>::quiet_NaN();
  if (!parameter.is_number()) {
    const auto found = std::find(parameter.choices.begin(), parameter.choices.end(), *parameter.first);
    return static_cast<double>(found - parameter.choices.begin());
  }
  if (const auto* whole = std::get_if<std::int64_t>(&*parameter.first)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&*parameter.first)) return *real;
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace

std::optional<Point> first_point(const Space& space) {
  Point point;
  bool has_first = false;
  for (const Hyperparameter& parameter : space.parameters()) {
    point.push_back(number_of_first(parameter));
    has_first |= parameter.first.has_value();
  }
  if (!has_first) return std::nullopt;
  space.settle(point);
  if (!space.meets_constraints(point)) return std::nullopt;
  return point;
}

Result<Point> startup_point(const Space& space, std::int64_t number, Random& random) {
  if (number == 0) {
    if (auto first = first_point(space)) return *std::move(first);
  }
  return random_point(space, random);
}

}  // namespace trainwarden::tune
