#include "ui/views/profile/time_buckets.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trainwarden::views {
namespace {

constexpr std::int64_t kTenYearsNs = std::int64_t{10} * 366 * 86'400 * 1'000'000'000;

}  // namespace

bool TimeBuckets::make_room(std::int64_t unix_ns) {
  if (unix_ns < from_unix_ns_ || unix_ns - from_unix_ns_ > kTenYearsNs) return false;
  while ((unix_ns - from_unix_ns_) / length_ns_ >= static_cast<std::int64_t>(most_)) {
    for (std::size_t i = 0; i < buckets_.size(); i += 2) {
      Bucket both = buckets_[i];
      if (i + 1 < buckets_.size()) {
        both.sum += buckets_[i + 1].sum;
        both.weight += buckets_[i + 1].weight;
      }
      buckets_[i / 2] = both;
    }
    buckets_.resize((buckets_.size() + 1) / 2);
    length_ns_ *= 2;
  }
  const auto needed = static_cast<std::size_t>((unix_ns - from_unix_ns_) / length_ns_) + 1;
  if (buckets_.size() < needed) buckets_.resize(needed);
  return true;
}

void TimeBuckets::add_to(std::size_t bucket, double value, double weight) {
  buckets_[bucket].sum += static_cast<float>(value * weight);
  buckets_[bucket].weight += static_cast<float>(weight);
}

void TimeBuckets::add(std::int64_t unix_ns, double value, double weight) {
  if (!std::isfinite(value) || std::fabs(value) > 1e30 || !make_room(unix_ns)) return;
  add_to(static_cast<std::size_t>((unix_ns - from_unix_ns_) / length_ns_), value, weight);
}

void TimeBuckets::spread(std::int64_t from_unix_ns, std::int64_t to_unix_ns, double value) {
  const std::int64_t from = std::max(from_unix_ns, from_unix_ns_);
  if (!std::isfinite(value) || std::fabs(value) > 1e30 || to_unix_ns <= from || !make_room(to_unix_ns - 1)) return;
  for (std::int64_t begin = from; begin < to_unix_ns;) {
    const std::int64_t bucket = (begin - from_unix_ns_) / length_ns_;
    const std::int64_t end = std::min(to_unix_ns, from_unix_ns_ + (bucket + 1) * length_ns_);
    add_to(static_cast<std::size_t>(bucket), value, static_cast<double>(end - begin) / static_cast<double>(length_ns_));
    begin = end;
  }
}

std::vector<double> TimeBuckets::means(std::int64_t from_unix_ns, std::int64_t to_unix_ns, std::size_t count) const {
  std::vector<double> means(count, std::numeric_limits<double>::quiet_NaN());
  const double length =
      (static_cast<double>(to_unix_ns) - static_cast<double>(from_unix_ns)) / static_cast<double>(count);
  if (!(length > 0)) return means;
  const auto own = static_cast<double>(length_ns_);
  const double first = static_cast<double>(from_unix_ns) - static_cast<double>(from_unix_ns_);  // behind our beginning
  for (std::size_t i = 0; i < count; ++i) {
    const double begin = first + length * static_cast<double>(i), end = begin + length;
    double sum = 0, weight = 0;
    auto bucket = static_cast<std::int64_t>(std::max(0.0, begin / own));
    for (; bucket < static_cast<std::int64_t>(buckets_.size()) && static_cast<double>(bucket) * own < end; ++bucket) {
      const double from = static_cast<double>(bucket) * own;
      const double common = std::min(end, from + own) - std::max(begin, from);
      if (common <= 0) continue;
      const Bucket& ours = buckets_[static_cast<std::size_t>(bucket)];
      sum += static_cast<double>(ours.sum) * common / own;
      weight += static_cast<double>(ours.weight) * common / own;
    }
    if (weight > 0) means[i] = sum / weight;
  }
  return means;
}

}  // namespace trainwarden::views
