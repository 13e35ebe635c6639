#include "judge/rules/builtin/losses/drift_detector.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::rules {
namespace {

constexpr double kAverageWeight = 0.1;
constexpr double kNoiseWeight = 0.01;
constexpr double kLeastNoise = 1e-3;  // of the level
constexpr double kLeastGain = 0.05;   // of the start, for a loss that never fell
constexpr double kBackAgain = 0.5;    // of a rise that is left when it counts as over
constexpr double kUnusual = 1.5;      // times the largest rise that was over again

}  // namespace

double DriftDetector::noise() const {
  return std::max(std::sqrt(square_difference_ / 2), kLeastNoise * std::abs(best_));
}

double DriftDetector::gained() const {
  return std::max(start_ - best_, kLeastGain * std::abs(start_));
}

void DriftDetector::follow_rise() {
  const double above = average_ - best_;
  rise_ = std::max(rise_, above);
  if (above >= kBackAgain * rise_) return;
  usual_ = std::max(usual_, rise_);
  rise_ = above;
}

DriftReading DriftDetector::add(std::int64_t step, double x) {
  ++count_;
  const auto part = 1 / static_cast<double>(count_);
  if (count_ == 1) average_ = x;
  average_ += std::max(kAverageWeight, part) * (x - average_);
  if (count_ <= kStartPoints) start_ += part * (x - start_);
  if (count_ > 1)
    square_difference_ +=
        std::max(kNoiseWeight, 1 / static_cast<double>(count_ - 1)) * ((x - last_) * (x - last_) - square_difference_);
  last_ = x;
  best_ = count_ <= kStartPoints ? average_ : std::min(best_, average_);
  recent_.push_back(average_);
  if (recent_.size() > static_cast<std::size_t>(kLeastPoints)) recent_.pop_front();

  DriftReading reading;
  if (count_ < kLearningPoints) return reading;
  reading.is_learning = false;
  follow_rise();
  const double sigma = noise();
  if (!(sigma > 0)) return reading;  // always the same number, 0
  cusum_ = std::max(0.0, cusum_ + (x - best_) / sigma - limits_.slack);
  if (cusum_ == 0)
    points_ = 0;
  else if (points_++ == 0)
    first_step_ = step;
  reading.cusum = cusum_;
  reading.average = average_;
  reading.best = best_;
  reading.lost = gained() > 0 ? (average_ - best_) / gained() : 0;
  reading.first_step = first_step_;
  reading.slope = points_ == 0 ? 0 : (average_ - best_) / sigma / static_cast<double>(points_);
  reading.is_drifting = cusum_ > limits_.limit && points_ >= kLeastPoints && reading.lost >= limits_.lost &&
                        average_ >= recent_.front() && average_ - best_ > kUnusual * usual_;
  return reading;
}

void DriftDetector::forget_drift() {
  cusum_ = 0;
  points_ = 0;
  best_ = average_;
  rise_ = 0;
}

}  // namespace trainwarden::rules
