// Points that no trial has yet.
#pragma once

#include <functional>
#include <unordered_set>

#include "tune/search/history.h"
#include "tune/search/random.h"

namespace trainwarden::tune {

// The points of a history, of all trials of this study but that of one number. What another study has tried is still to
// be tried here, or the best of it could never be found.
class TriedPoints {
 public:
  TriedPoints(const History& history, std::int64_t but);
  bool contains(const Point& point) const { return hashes_.contains(hash_of(point)); }

 private:
  static std::uint64_t hash_of(const Point& point);  // 64 bits: that two points have the same is not to be expected
  std::unordered_set<std::uint64_t> hashes_;
};

// What `draw` gives. In a countable space a point that no other trial has: `draw` is asked again a few times, then
// random points are drawn, then all points are listed. kResourceExhausted: all have been tried. Where a space has too
// many to list (a million) and chance finds none that is new, one that was tried before. Errors of `draw` are handed
// on.
Result<Point> untried_point(const History& history, std::int64_t number, Random& random,
                            const std::function<Result<Point>()>& draw);

}  // namespace trainwarden::tune
