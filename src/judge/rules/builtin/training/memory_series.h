// MemorySeries: does a number of bytes grow without end?
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace trainwarden::rules {

struct GrowthLimits {
  double least_bytes = 0;     // of growth
  double least_share = 0;     // of growth, of the bytes at its begin
  double most_pull_back = 0;  // share of the bytes that may be given back in between
};

struct Growth {
  double bytes = 0;           // from the first eighth of the points to the last, by their medians
  double share = 0;           // of the bytes at the begin
  double bytes_per_step = 0;  // Theil-Sen: the median of the slopes between all pairs of points
  std::int64_t first_step = 0;
};

// Holds at most kMostPoints points: when there are more, every second one goes, and from then on only every second one
// is taken. A fall by more than the pull-back begins again.
class MemorySeries {
 public:
  static constexpr std::size_t kMostPoints = 256;
  static constexpr std::size_t kFewestPoints = 32;

  explicit MemorySeries(const GrowthLimits& limits) : limits_(limits) {}

  void add(std::int64_t step, double bytes);
  // Growth past all limits that goes on: in the second half the slope is at least half of that of the whole.
  std::optional<Growth> growth() const;

 private:
  struct Point {
    std::int64_t step = 0;
    double bytes = 0;
  };
  static double slope(const Point* first, const Point* last);  // Theil-Sen
  double median_bytes(std::size_t first, std::size_t count) const;
  void thin_out();

  GrowthLimits limits_;
  std::vector<Point> points_;
  std::size_t stride_ = 1;  // every how manyth value is taken
  std::size_t left_out_ = 0;
  double highest_ = 0;
};

}  // namespace trainwarden::rules
