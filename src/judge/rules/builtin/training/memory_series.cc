#include "judge/rules/builtin/training/memory_series.h"

#include <algorithm>

namespace trainwarden::rules {
namespace {

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void MemorySeries::add(std::int64_t step, double bytes) {
  if (bytes < highest_ * (1 - limits_.most_pull_back)) {
    points_.clear();
    stride_ = 1;
    left_out_ = 0;
    highest_ = bytes;
  }
  highest_ = std::max(highest_, bytes);
  if (++left_out_ < stride_) return;
  left_out_ = 0;
  points_.push_back({step, bytes});
  if (points_.size() == kMostPoints) thin_out();
}

void MemorySeries::thin_out() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < points_.size(); i += 2) points_[kept++] = points_[i];
  points_.resize(kept);
  stride_ *= 2;
}

double MemorySeries::median_bytes(std::size_t first, std::size_t count) const {
  std::vector<double> bytes;
  for (std::size_t i = first; i < first + count; ++i) bytes.push_back(points_[i].bytes);
  return median(bytes);
}

double MemorySeries::slope(const Point* first, const Point* last) {
  std::vector<double> slopes;
  for (const Point* a = first; a < last; ++a) {
    for (const Point* b = a + 1; b < last; ++b) {
      if (b->step > a->step) slopes.push_back((b->bytes - a->bytes) / static_cast<double>(b->step - a->step));
    }
  }
  return slopes.empty() ? 0 : median(slopes);
}

std::optional<Growth> MemorySeries::growth() const {
  if (points_.size() < kFewestPoints) return std::nullopt;
  const std::size_t eighth = points_.size() / 8;
  const double begin = median_bytes(0, eighth);
  Growth growth;
  growth.bytes = median_bytes(points_.size() - eighth, eighth) - begin;
  growth.share = begin > 0 ? growth.bytes / begin : 0;
  growth.first_step = points_.front().step;
  if (!(growth.bytes >= limits_.least_bytes) || !(growth.share >= limits_.least_share)) return std::nullopt;
  const Point* const end = points_.data() + points_.size();
  growth.bytes_per_step = slope(points_.data(), end);
  const double lately = slope(points_.data() + points_.size() / 2, end);
  if (!(growth.bytes_per_step > 0) || lately < growth.bytes_per_step / 2) return std::nullopt;
  return growth;
}

}  // namespace trainwarden::rules
