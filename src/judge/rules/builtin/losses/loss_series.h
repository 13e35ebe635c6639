// LossSeries: one loss over the steps, and the pairs of steps at which it is compared.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

namespace trainwarden::rules {

struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;
};

struct LossComparison {
  LossPoint before;
  LossPoint now;
};

// A step is compared with the latest one that is at least num_steps before it; the next step to be compared is then the
// first one at least num_steps after it. Saved every 3 steps with num_steps 10: 21 is compared with 9, and the next
// is 33. Source: the documented schedule of SageMaker Debugger. The first comparison comes as soon as there is such a
// pair.
//
// Keeps the points since the last comparison: at most num_steps + 1.
class LossSeries {
 public:
  explicit LossSeries(std::int64_t num_steps) : num_steps_(num_steps) {}

  // The comparison that is due at this step, if any. Steps rise; one that does not begins the series again.
  std::optional<LossComparison> add(const LossPoint& point);

  std::int64_t next_due() const { return due_; }  // the first step that may be compared; 0 before the first point

 private:
  const std::int64_t num_steps_;
  std::deque<LossPoint> points_;
  std::int64_t due_ = 0;
};

// By how much the loss fell, in percent of |before|; negative when it rose. Infinite when |before| is no measure (0 or
// infinite), NaN when either is NaN.
double decrease_percent(double before, double now);

struct LossLimits {
  double diff_percent = 0.1;              // the least decrease that is one; 0: any decrease
  double increase_threshold_percent = 5;  // an increase up to this is put up with
};

// A loss that is NaN did not decrease. One that was NaN before and is a number now did.
bool did_not_decrease(const LossComparison& comparison, const LossLimits& limits);

}  // namespace trainwarden::rules
