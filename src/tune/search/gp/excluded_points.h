// Which points of a countable space have been tried, and which are left.
#pragma once

#include <vector>

#include "tune/search/history.h"
#include "tune/search/samplers/untried.h"

namespace trainwarden::tune {

// Of all trials but that of one number, in whatever state.
class ExcludedPoints {
 public:
  ExcludedPoints(const History& history, std::int64_t number)
      : is_countable_(history.space.count() > 0), tried_(history, number) {}

  bool contains(const Point& point) const { return tried_.contains(point); }
  // Not suggested again: tried, in a space that can be counted. Of a continuum nothing is.
  bool excludes(const Point& point) const { return is_countable_ && contains(point); }

 private:
  bool is_countable_;
  TriedPoints tried_;
};

// All points of a countable space that meet its constraints and are not excluded, in order; ends after `limit` of them.
std::vector<Point> untried_points(const Space& space, const ExcludedPoints& tried, std::size_t limit);

}  // namespace trainwarden::tune
