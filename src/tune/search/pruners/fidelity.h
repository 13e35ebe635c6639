// Does a low fidelity rank like the full one? What curves say early is trusted only where it agrees with the end.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "tune/search/history.h"

namespace trainwarden::tune {

// Between values of the first objective at a step and the final values (StudyTrial::values), of the complete trials
// that have both.
struct RankAgreement {
  std::size_t trials = 0;
  double tau = std::numeric_limits<double>::quiet_NaN();  // Kendall's tau-b; NaN: too few, or one side is all equal
  // Approximate, by Fieller, Hartley and Pearson (1957): atanh(tau) has the variance 0.437 / (n - 4). NaN below 5.
  double standard_error = std::numeric_limits<double>::quiet_NaN();
  double lower = -1;  // of tau, one-sided, 95 %
};

RankAgreement rank_agreement(const History& history, std::int64_t step);

inline constexpr std::size_t kMinTrialsToTrust = 8;
inline constexpr double kMinAgreement = 0.5;
inline constexpr std::int64_t kNoTrustedStep = std::numeric_limits<std::int64_t>::max();

// The smallest of 20 steps, from a hundredth of the longest complete trial to its end in equal ratios, from which on
// the lower bound of tau is above kMinAgreement; kNoTrustedStep where that is so nowhere, not even at the end. None:
// fewer than kMinTrialsToTrust complete trials have a curve and a final value, nothing is known.
// Trials that were pruned have no final value: agreement is that among those that were let through, which are more
// alike than all. It errs to the side of a later step.
std::optional<std::int64_t> trusted_step(const History& history);

// trusted_step() of one study, computed anew only when another trial is complete. One thread at a time.
class TrustedStep {
 public:
  explicit TrustedStep(bool is_checked) : is_checked_(is_checked) {}
  // Below this step nothing is to be pruned: 0 where nothing is known yet, or the check is off.
  std::int64_t of(const History& history);

 private:
  bool is_checked_;
  std::uint64_t seen_ = 0;  // of the complete trials
  std::int64_t step_ = 0;
};

}  // namespace trainwarden::tune
