#include "ui/views/series_pyramid.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::views {

void SeriesSummary::add(double value) {
  ++count;
  if (std::isnan(value)) {
    ++nan;
  } else if (std::isinf(value)) {
    ++(value > 0 ? positive_inf : negative_inf);
  } else {
    min = std::isnan(min) ? value : std::min(min, value);
    max = std::isnan(max) ? value : std::max(max, value);
    first = std::isnan(first) ? value : first;
    last = value;
  }
}

void SeriesSummary::add(const SeriesSummary& next) {
  count += next.count;
  nan += next.nan;
  positive_inf += next.positive_inf;
  negative_inf += next.negative_inf;
  if (std::isnan(next.min)) return;
  min = std::isnan(min) ? next.min : std::min(min, next.min);
  max = std::isnan(max) ? next.max : std::max(max, next.max);
  first = std::isnan(first) ? next.first : first;
  last = next.last;
}

void SeriesPyramid::append(std::int64_t step, std::int64_t unix_ns, double value) {
  steps_.push_back(step);
  times_.push_back(unix_ns);
  values_.push_back(value);
  std::size_t count = values_.size() - 1;  // of what the level below has had before
  if (count % kFan == 0) levels_[0].emplace_back();
  levels_[0].back().add(value);
  // What has become whole goes into the level above.
  for (std::size_t k = 1; k < kLevels && ++count % kFan == 0; ++k) {
    count = count / kFan - 1;
    if (count % kFan == 0) levels_[k].emplace_back();
    levels_[k].back().add(levels_[k - 1].back());
  }
}

void SeriesPyramid::make_room(std::size_t count) {
  trainwarden::make_room(steps_, count);
  trainwarden::make_room(times_, count);
  trainwarden::make_room(values_, count);
}

std::size_t SeriesPyramid::at_or_after(std::int64_t step) const {
  return static_cast<std::size_t>(std::lower_bound(steps_.begin(), steps_.end(), step) - steps_.begin());
}

SeriesSummary SeriesPyramid::summary(std::size_t begin, std::size_t end) const {
  SeriesSummary result;
  while (begin < end) {
    // The largest part that begins here and does not reach past the end.
    std::size_t level = 0;
    std::size_t span = 1;
    while (level < levels_.size() && begin % (span * kFan) == 0 && begin + span * kFan <= end) {
      span *= kFan;
      ++level;
    }
    if (level == 0) {
      result.add(values_[begin]);
    } else {
      result.add(levels_[level - 1][begin / span]);
    }
    begin += span;
  }
  return result;
}

std::vector<SeriesBucket> SeriesPyramid::buckets(std::size_t begin, std::size_t end, std::size_t count) const {
  std::vector<SeriesBucket> result;
  if (begin >= end || count == 0) return result;
  const auto first = static_cast<double>(steps_[begin]);
  const double width = (static_cast<double>(steps_[end - 1]) - first + 1) / static_cast<double>(count);
  result.reserve(count);
  for (std::size_t bucket = 1; begin < end; ++bucket) {
    const std::int64_t edge = bucket >= count
                                  ? steps_[end - 1] + 1
                                  : static_cast<std::int64_t>(std::ceil(first + width * static_cast<double>(bucket)));
    const auto next = std::lower_bound(steps_.begin() + static_cast<std::ptrdiff_t>(begin),
                                       steps_.begin() + static_cast<std::ptrdiff_t>(end), edge);
    const auto stop = static_cast<std::size_t>(next - steps_.begin());
    if (stop == begin) continue;
    result.push_back({steps_[begin], steps_[stop - 1], times_[begin], times_[stop - 1], summary(begin, stop)});
    begin = stop;
  }
  return result;
}

}  // namespace trainwarden::views
