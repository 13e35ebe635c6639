// Is a model good enough to stop? Asked of the scores of a sample, again and again.
#pragma once

#include <cstdint>
#include <span>

namespace bert {

// What the mean of all items is to reach. In the unit of the scores, which lie between 0 and 100.
struct Target {
  double mean = 0;
  std::int64_t looks = 1;       // that there will be in the whole training, at least 1
  std::int64_t population = 0;  // items of which the sample was drawn, without regard to what they are
  double alpha = 0.05;          // chance, over all looks together, of telling that it is reached while it is not
};

struct Look {
  double mean = 0;       // of the sample
  double not_below = 0;  // the mean of all items is not, but for a chance of alpha over all looks
  bool reached = false;
};

// Each look gets the same part of alpha, so that one after a restart needs to know nothing of those before it. Source:
// trainwarden/mean_bound.h, by which the rule TargetReached judges, too. `scores`: one at least.
Look look_at(std::span<const double> scores, const Target& target);

}  // namespace bert
