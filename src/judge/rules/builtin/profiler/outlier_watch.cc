#include "judge/rules/builtin/profiler/outlier_watch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

namespace trainwarden::rules {
namespace {

constexpr double kNormal = 1.4826;           // standard deviations in a median absolute deviation
constexpr std::size_t kLearnEach = 20;       // so many new times change a median little
constexpr std::size_t kFewestDistances = 4;  // that are a rhythm
constexpr double kRegularShare = 0.7;        // of the distances that are alike

double middle_of(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

void OutlierWatch::learn() {
  std::vector<double> values = times_;
  median_ = middle_of(values);
  for (double& value : values) value = std::abs(value - median_);
  deviation_ = kNormal * middle_of(values);
}

std::optional<OutlierTime> OutlierWatch::add(std::int64_t number, double seconds) {
  if (times_.size() < kRemembered) {
    times_.push_back(seconds);
  } else {
    times_[oldest_] = seconds;
    oldest_ = (oldest_ + 1) % kRemembered;
  }
  if (times_.size() < kFewest) return std::nullopt;
  if (until_learning_ == 0) {
    learn();
    until_learning_ = kLearnEach;
  }
  --until_learning_;
  ++count_;
  seconds_ += seconds;
  const std::optional<OutlierTime> time = judge(seconds);
  if (!time->is_outlier) return time;
  ++outliers_;
  excess_ += seconds - median_;
  numbers_.push_back(number);
  if (numbers_.size() > kListed) numbers_.pop_front();
  return time;
}

std::optional<OutlierTime> OutlierWatch::judge(double seconds) const {
  if (times_.size() < kFewest) return std::nullopt;
  const double limit =
      std::max({median_ + limits_.deviations * deviation_, limits_.factor * median_, median_ + limits_.least_excess});
  return OutlierTime{seconds > limit, median_, limit};
}

std::int64_t OutlierWatch::period() const {
  std::map<std::int64_t, std::size_t> distances;
  for (std::size_t i = 1; i < numbers_.size(); ++i) ++distances[numbers_[i] - numbers_[i - 1]];
  if (numbers_.size() <= kFewestDistances) return 0;
  std::int64_t best = 0;
  std::size_t most = 0;
  for (const auto& [distance, count] : distances) {
    // Steps are numbered over all modes: a distance may be off by one.
    std::size_t alike = count;
    for (const std::int64_t near : {distance - 1, distance + 1}) {
      const auto found = distances.find(near);
      alike += found == distances.end() ? 0 : found->second;
    }
    if (alike > most || (alike == most && count > distances[best])) {
      most = alike;
      best = distance;
    }
  }
  const bool is_regular = static_cast<double>(most) >= kRegularShare * static_cast<double>(numbers_.size() - 1);
  return is_regular && best > 1 ? best : 0;
}

}  // namespace trainwarden::rules
