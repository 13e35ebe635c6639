// SeriesPyramid: numbers over rising steps, with summaries of 64, 64², ... of them, so that any stretch is summed up
// without looking at all of it. What is not finite is counted, never dropped and never drawn into a minimum.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/large_memory.h"

namespace trainwarden::views {

struct SeriesSummary {
  // Over the finite ones; NaN when there are none.
  double min = std::numeric_limits<double>::quiet_NaN();
  double max = std::numeric_limits<double>::quiet_NaN();
  double first = std::numeric_limits<double>::quiet_NaN();
  double last = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t count = 0;  // all
  std::uint64_t nan = 0;
  std::uint64_t positive_inf = 0;
  std::uint64_t negative_inf = 0;

  void add(double value);
  void add(const SeriesSummary& next);  // of what follows
};

struct SeriesBucket {
  std::int64_t first_step = 0;
  std::int64_t last_step = 0;
  std::int64_t first_unix_ns = 0;
  std::int64_t last_unix_ns = 0;
  SeriesSummary summary;
};

class SeriesPyramid {
 public:
  // For so many more: their memory is then taken at once.
  void make_room(std::size_t count);
  // `step` is greater than all before.
  void append(std::int64_t step, std::int64_t unix_ns, double value);

  std::size_t size() const { return values_.size(); }
  std::int64_t step(std::size_t i) const { return steps_[i]; }
  std::int64_t unix_ns(std::size_t i) const { return times_[i]; }
  double value(std::size_t i) const { return values_[i]; }
  // The index of the first at or after the step.
  std::size_t at_or_after(std::int64_t step) const;

  SeriesSummary summary(std::size_t begin, std::size_t end) const;
  // [begin, end) in at most `count` stretches of the same number of steps; those without numbers are left out.
  std::vector<SeriesBucket> buckets(std::size_t begin, std::size_t end, std::size_t count) const;

 private:
  static constexpr std::size_t kFan = 64;
  static constexpr std::size_t kLevels = 4;  // the last one sums up 16 million each

  template <class T>
  using Long = std::vector<T, LargeAllocator<T>>;
  Long<std::int64_t> steps_;
  Long<std::int64_t> times_;
  Long<double> values_;
  // levels_[k][i]: of the 64^(k+1) values from i * 64^(k+1) on. The last ones of each level are not whole; those above
  // the first then lack some.
  std::array<std::vector<SeriesSummary>, kLevels> levels_;
};

}  // namespace trainwarden::views
