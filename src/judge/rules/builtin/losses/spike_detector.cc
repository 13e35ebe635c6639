#include "judge/rules/builtin/losses/spike_detector.h"

#include <algorithm>
#include <cmath>

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kMostStepsOfSpike = 1'000'000;

}  // namespace

SpikeLimits read_spike_limits(ParameterReader& read) {
  SpikeLimits limits;
  limits.z = read.number("z_threshold", 1);
  limits.ratio = read.number("ratio_threshold", 1);
  limits.recovery = read.integer("recovery_steps", 1, kMostStepsOfSpike);
  return limits;
}

double SpikeDetector::start_level() const {
  if (count_ == 0) return 0;
  return std::exp(start_sum_ / static_cast<double>(std::min(count_, kStartPoints)));
}

// The first points, where a loss falls fastest, say nothing of its noise. The weights of the newest point are 1/n
// until those are the exponential averages'.
void SpikeDetector::learn(double log_x) {
  ++count_;
  if (count_ <= kStartPoints) {
    start_sum_ += log_x;
    mean_ = log_x;
    return;
  }
  const double least_weight = 1 / static_cast<double>(count_ - kStartPoints);
  const double distance = log_x - mean_;
  mean_ += std::max(1 - kMeanDecay, least_weight) * distance;
  variance_ += std::max(1 - kVarianceDecay, least_weight) * (distance * distance - variance_);
}

SpikeReading SpikeDetector::add(std::int64_t step, double x) {
  SpikeReading reading;
  if (!(x > 0) || !std::isfinite(x)) return reading;
  const double log_x = std::log(x);
  if (count_ < kLearningPoints) {
    learn(log_x);
    reading.state = SpikeState::kLearning;
    return reading;
  }
  reading.z = (log_x - mean_) / std::max(std::sqrt(variance_), kLeastDeviation);
  reading.baseline = std::exp(mean_);
  reading.ratio = x / reading.baseline;
  const bool is_far = reading.z >= limits_.z && reading.ratio > limits_.ratio;
  if (!spiking_ && !is_far) {
    learn(log_x);
    reading.state = SpikeState::kCalm;
    return reading;
  }
  if (!spiking_) {
    spiking_ = true;
    first_step_ = step;
    points_ = calm_points_ = 0;
    peak_ = x;
  }
  return follow_spike(x, reading.z >= limits_.z / 2 && reading.ratio > limits_.ratio, reading);
}

SpikeReading SpikeDetector::follow_spike(double x, bool is_far, SpikeReading reading) {
  ++points_;
  calm_points_ = is_far ? 0 : calm_points_ + 1;
  peak_ = std::max(peak_, x);
  reading.first_step = first_step_;
  reading.points = points_;
  reading.peak = peak_;
  reading.state = points_ > limits_.recovery ? SpikeState::kLasting : SpikeState::kSpiking;
  if (calm_points_ < kCalmPoints) return reading;
  spiking_ = false;
  reading.state = SpikeState::kRecovered;
  return reading;
}

}  // namespace trainwarden::rules
