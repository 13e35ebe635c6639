// TrialSampler: what to try next.
//
// A suggestion depends on the history and the number of the trial alone. So it is the same after a crash, and whoever
// keeps the history has all that a sampler needs: what a sampler keeps beside it only saves time.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "tune/search/history.h"
#include "tune/search/random.h"

namespace trainwarden::tune {

struct Suggestion {
  Point point;                          // history.space contains it
  std::map<std::string, double> notes;  // for StudyTrial::notes
};

// One thread at a time.
class TrialSampler {
 public:
  virtual ~TrialSampler() = default;
  virtual std::string_view name() const = 0;  // "tpe"
  // For the trial of this number. The history has all trials with smaller numbers, in whatever state, and may have
  // others. kResourceExhausted: all there is has been tried (of a grid). kFailedPrecondition: what it cannot do, with
  // what would. kUnavailable: it must know results of running trials first.
  virtual Result<Suggestion> suggest(const History& history, std::int64_t number) = 0;

 protected:
  // The stream of a trial.
  static Random random_of(const History& history, std::int64_t number);
};

// Drawn uniformly by the positions (Space::to_unit) of what is active; constraints are not looked at.
Point uniform_point(const Space& space, Random& random);
// The same, of the points that meet the constraints. kResourceExhausted: none of ten thousand did.
Result<Point> random_point(const Space& space, Random& random);

}  // namespace trainwarden::tune
