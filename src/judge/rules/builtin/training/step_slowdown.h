// StepSlowdown: by how much the steps of one worker have become longer, and what that costs.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "judge/rules/builtin/profiler/finding.h"

namespace trainwarden::rules {

// Takes the wall time of each step in turn, in seconds. Holds at most kMostStretches medians of stretches that are
// equally long; when there are more, neighbours are put together.
class StepSlowdown {
 public:
  static constexpr std::size_t kShortestStretch = 32;  // steps
  static constexpr std::size_t kMostStretches = 64;

  void add(double seconds);
  // Against steps that are as long as the first ones were. Where the steps become longer evenly, their first length is
  // read from the line through the stretches (Theil and Sen); else it is that of the fastest stretch. None where steps
  // have not become longer by a fifth.
  std::optional<Cost> cost() const;

 private:
  struct Line {
    double at_first = 0;  // seconds of the first step
    double misfit = 0;    // median distance of the stretches from it
  };
  Line line() const;
  void merge_neighbours();

  std::vector<double> stretch_;  // that is not full yet
  std::vector<double> medians_;  // of those that are, in seconds
  std::size_t stretch_steps_ = kShortestStretch;
  double sum_ = 0;  // of all steps
  std::size_t count_ = 0;
};

}  // namespace trainwarden::rules
