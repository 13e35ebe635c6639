#include "ui/views/profile/value_digest.h"

#include <algorithm>
#include <cmath>

#include "read/profile/rates.h"

namespace trainwarden::views {

void ValueDigest::add(double value) {
  if (!std::isfinite(value)) return;
  min_ = count_ == 0 ? value : std::min(min_, value);
  max_ = count_ == 0 ? value : std::max(max_, value);
  sum_ += value;
  last_ = value;
  if (count_++ % every_ != 0) return;
  if (values_.size() >= most_) {
    for (std::size_t i = 0; i < values_.size(); i += 2) values_[i / 2] = values_[i];
    values_.resize((values_.size() + 1) / 2);
    every_ *= 2;
    if ((count_ - 1) % every_ != 0) return;
  }
  values_.push_back(static_cast<float>(value));
}

std::optional<ValueSpread> ValueDigest::distribution() const {
  if (count_ == 0) return std::nullopt;
  std::vector<double> sorted(values_.begin(), values_.end());
  std::sort(sorted.begin(), sorted.end());
  const auto at = [&](double share) { return std::clamp(profile::quantile_of_sorted(sorted, share), min_, max_); };
  return ValueSpread{min_, at(0.5), at(0.95), at(0.99), max_, sum_ / static_cast<double>(count_)};
}

}  // namespace trainwarden::views
