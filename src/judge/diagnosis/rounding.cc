// Rounding: updates that are smaller than the rounding of the numbers that they are added to.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "judge/diagnosis/finding.h"

namespace trainwarden::diagnosis {
namespace {

// The share of elements that change with a step of an adaptive optimizer at its full rate, late in the training. Such a
// step is as large as the rate, however small gradients have become. 1 where that does not hold, or is not known.
double late_share(const Case& seen, std::size_t parameter) {
  constexpr double kLate = 0.5, kFullRate = 0.5;
  if (!seen.is_adaptive() || seen.snapshots().empty()) return 1;
  double highest = 0;
  for (const Snapshot& snapshot : seen.snapshots()) highest = std::fmax(highest, snapshot.at("rate"));
  Values shares;
  for (const Snapshot& snapshot : seen.snapshots()) {
    const double rate = snapshot.at("rate"), share = snapshot.at("update_share", parameter);
    const bool is_late = static_cast<double>(snapshot.step) > kLate * static_cast<double>(seen.symptoms.steps);
    if (is_late && std::isfinite(share) && !(rate < kFullRate * highest)) shares.push_back(share);
  }
  return shares.size() >= 2 ? median(shares) : 1;
}

}  // namespace

void look_at_rounding(const Case& seen, Findings& findings) {
  const auto& parameters = seen.structure().parameters;
  std::size_t low = 0, lost = 0, copies = 0;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const double epsilon = parameters[i].dtype == "bfloat16" ? 0.0039 : parameters[i].dtype == "float16" ? 0.00049 : 0;
    if (epsilon == 0 || parameters[i].shape.size() < 2) continue;
    if (parameters[i].optimizers.empty() && parameters[i].trainable) continue;
    if (parameters[i].optimizers.empty()) {
      const double moved = median_of(seen.history, "changed_share", i);
      copies += moved > 0 && moved < 0.4 ? 1 : 0;
      continue;
    }
    ++low;
    const double gradient = median_of(seen.history, "gradient", i), update = median_of(seen.history, "update", i),
                 weight = median_of(seen.history, "weight", i);
    const double share = std::min(median_of(seen.history, "update_share", i), late_share(seen, i));
    if (gradient > 0 && (update < epsilon * weight / 4 || share < 0.35)) ++lost;
  }
  if (copies > 0 && low == 0) {
    findings.push_back(
        {"updates_lost_to_rounding",
         0.82,
         fmt::format("{} weights in half precision follow others, and most of their changes are rounded away", copies),
         {"less than 40 % of their elements change with a step: an average of weights needs float32"},
         {},
         1,
         {}});
  }
  if (low == 0 || lost * 2 < low || seen.symptoms.skill > 0.9) return;
  findings.push_back(
      {"updates_lost_to_rounding",
       0.85,
       fmt::format("Updates of {} of {} weights in half precision are smaller than their rounding", lost, low),
       {fmt::format("the weights are {}", parameters.front().dtype), seen.course().front()},
       {},
       1,
       seen.place("optimizer")});
}

}  // namespace trainwarden::diagnosis
