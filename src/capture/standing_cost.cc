#include "capture/standing_cost.h"

namespace trainwarden::capture {
namespace {

constexpr double kSmoothing = 0.25;

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
  share_ += (seen - share_) * (known_ ? kSmoothing : 1);
  known_ = true;
  sample_ = Sample{now_ns, spent_ns};
}

}  // namespace trainwarden::capture
