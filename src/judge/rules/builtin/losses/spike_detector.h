// SpikeDetector: a positive number over the steps that suddenly rises far above its own noise, and whether it comes
// back.
//
// Judged on the logarithm, so that a number that falls over decades (a loss) has noise of one size. Baseline: m, an
// exponential average of log x, and v, one of its squared distance from m. That of m is short, so that a loss that
// falls quickly is not taken for a noisy one. A spike begins where
//
//     z = (log x - m) / max(√v, kLeastDeviation) ≥ limits.z   and   x / e^m > limits.ratio
//
// The baseline then stands still until kCalmPoints points in a row are not as far (recovered: the spike was transient),
// or limits.recovery points have passed since it began (lasting). Source: z-score clipping of gradients (ZClip, decay
// 0.97); the short mean is ours; transient and lasting after the profiler specification, rule 3. Bounded state.
#pragma once

#include <cstdint>

#include "judge/rules/parameters.h"

namespace trainwarden::rules {

struct SpikeLimits {
  double z = 6;
  double ratio = 1.3;
  std::int64_t recovery = 50;  // points
};

// From the parameters z_threshold, ratio_threshold and recovery_steps.
SpikeLimits read_spike_limits(ParameterReader& read);

enum class SpikeState : std::uint8_t {
  kUnfit,     // not a positive finite number: left out
  kLearning,  // fewer than kLearningPoints points so far
  kCalm,
  kSpiking,    // a spike has begun, and is not over
  kRecovered,  // it ended with this point
  kLasting,    // it did not end in time
};

struct SpikeReading {
  SpikeState state = SpikeState::kUnfit;
  double z = 0;
  double ratio = 1;              // to the baseline
  double baseline = 0;           // e^m
  double peak = 0;               // the highest value since the spike began
  std::int64_t first_step = -1;  // at which it began
  std::int64_t points = 0;       // since then
};

class SpikeDetector {
 public:
  static constexpr std::int64_t kLearningPoints = 30;
  static constexpr std::int64_t kStartPoints = 10;
  static constexpr std::int64_t kCalmPoints = 3;
  static constexpr double kMeanDecay = 0.9;
  static constexpr double kVarianceDecay = 0.97;
  static constexpr double kLeastDeviation = 0.02;

  explicit SpikeDetector(const SpikeLimits& limits) : limits_(limits) {}

  SpikeReading add(std::int64_t step, double x);
  // The geometric mean of the first kStartPoints points; 0 before the first.
  double start_level() const;

 private:
  void learn(double log_x);
  SpikeReading follow_spike(double x, bool is_far, SpikeReading reading);

  SpikeLimits limits_;
  double mean_ = 0;
  double variance_ = 0;
  double start_sum_ = 0;
  std::int64_t count_ = 0;  // that the baseline was learned from
  bool spiking_ = false;
  std::int64_t first_step_ = -1;
  std::int64_t points_ = 0;
  std::int64_t calm_points_ = 0;
  double peak_ = 0;
};

}  // namespace trainwarden::rules
