#include "hook/capture/budget/standing_cost.h"

#include <algorithm>

namespace trainwarden::capture {
namespace {

constexpr double kStandingSmoothing = 0.25;

}  // namespace

void StandingCost::note_kept(std::int64_t now_ns) {
  quiet_from_ns_ = now_ns + kSettlingNs;
  sample_.reset();
}

void StandingCost::look(std::int64_t now_ns, std::int64_t spent_ns) {
  if (now_ns < quiet_from_ns_) return;
  if (!sample_) {
    sample_ = Sample{now_ns, spent_ns};
    return;
  }
  if (now_ns - sample_->began_ns < kSampleNs) return;
  const double seen =
      static_cast<double>(spent_ns - sample_->spent_ns) / static_cast<double>(now_ns - sample_->began_ns);
  // It may seem to shrink: when who watches has ended, or the training takes more CPUs than before.
  share_ += (std::max(seen, 0.0) - share_) * (known_ ? kStandingSmoothing : 1);
  known_ = true;
  sample_ = Sample{now_ns, spent_ns};
}

}  // namespace trainwarden::capture
