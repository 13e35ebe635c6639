// What rules make the hook capture, and what that will cost.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/rules/capture_needs.h"
#include "trainwarden/trial.h"
#include "ui/cli/terminal/json_out.h"

namespace trainwarden::cli {

// What one element costs the training thread on this machine, in nanoseconds, measured now on a tensor of 1 Mi float32.
struct CaptureSpeed {
  double statistics_ns = 0;
  double histogram_ns = 0;  // besides
  double hash_ns = 0;       // besides
  double values_ns = 0;     // copying them
};
CaptureSpeed measure_capture_speed();

// A need and, when it was measured on a run, what it comes to there. Per step: spread over its save interval.
struct NeedCost {
  rules::CaptureNeed need;
  bool known = false;  // the run knows tensors of this collection, with their shapes
  std::uint64_t tensors = 0;
  std::uint64_t elements = 0;
  double ns_per_step = 0;
  double bytes_per_step = 0;
};
// `trial`: a run of the same program, or null. A tensor that several needs ask for counts in each.
std::vector<NeedCost> cost_of_needs(std::span<const rules::CaptureNeed> needs, const CaptureSpeed& speed, Trial* trial);

void print_needs(const std::vector<NeedCost>& costs, const CaptureSpeed& speed, bool with_run);
OrderedJson json_of(const std::vector<NeedCost>& costs, const CaptureSpeed& speed);

}  // namespace trainwarden::cli
