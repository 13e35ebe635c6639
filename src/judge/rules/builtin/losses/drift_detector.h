// DriftDetector: a number over the steps that slowly rises away from the best that it has reached.
//
// CUSUM (Page 1954) against the number's own baseline b, the least value of its exponential average (decay 0.9):
//
//     S = max(0, S + (x - b) / σ - slack)
//
// σ is the noise from one step to the next, √(mean of squared differences / 2), which a trend does not inflate. Slack
// is what noise alone adds, since b is the least of many averages. A drift is found when S > limit, it has lasted for
// kLeastPoints, the average is not below what it was kLeastPoints ago, and what was lost, average - b, is at least
// `lost` of what had been gained, start - b: so a loss that wavers near zero is none. And it is far more than the loss
// has risen and fallen again by before, as where one task follows another. Bounded state.
#pragma once

#include <cstdint>
#include <deque>

namespace trainwarden::rules {

struct DriftLimits {
  double slack = 1.5;  // σ
  double limit = 30;   // σ
  double lost = 0.15;  // of start - best
};

struct DriftReading {
  bool is_learning = true;  // fewer than kLearningPoints points
  bool is_drifting = false;
  double cusum = 0;
  double average = 0;
  double best = 0;
  double lost = 0;               // (average - best) / (start - best)
  double slope = 0;              // of the average since the drift began, σ a point
  std::int64_t first_step = -1;  // at which S left zero
};

class DriftDetector {
 public:
  static constexpr std::int64_t kStartPoints = 10;
  static constexpr std::int64_t kLearningPoints = 50;
  static constexpr std::int64_t kLeastPoints = 30;

  explicit DriftDetector(const DriftLimits& limits) : limits_(limits) {}
  DriftReading add(std::int64_t step, double x);  // x: finite
  void forget_drift();                            // what has risen so far has another reason

 private:
  void follow_rise();
  double noise() const;
  double gained() const;

  DriftLimits limits_;
  std::int64_t count_ = 0;
  double last_ = 0;
  double start_ = 0;
  double average_ = 0;
  double best_ = 0;
  double square_difference_ = 0;
  double cusum_ = 0;
  std::int64_t first_step_ = -1;
  std::int64_t points_ = 0;  // since S left zero
  double rise_ = 0;          // the most that the average has been above the best since it was last near it
  double usual_ = 0;         // the most of such rises that it has come back from
  std::deque<double> recent_;
};

}  // namespace trainwarden::rules
