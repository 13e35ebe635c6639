#include "tune/search/pruners/fidelity.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "tune/search/pruners/curve.h"
#include "tune/search/pruners/kendall.h"

namespace trainwarden::tune {
namespace {

constexpr int kCandidates = 20;
constexpr double kFidelityRange = 100;        // of the first candidate to the last
const double kOneSided = 1.6448536269514722;  // normal quantile of 0.95

struct FinalCost {
  const StudyTrial* trial;
  double cost;
};

// Of the complete trials that have a curve, best first: what is in order already is sorted faster.
std::vector<FinalCost> final_costs(const History& history, std::size_t metric) {
  std::vector<FinalCost> finals;
  for (const StudyTrial& trial : history.trials) {
    if (trial.state != TrialState::kComplete || metric >= trial.values.size()) continue;
    const double cost = sound_cost(history.metrics[metric], trial.values[metric]);
    if (!std::isnan(cost) && !curve_of(trial, metric).empty()) finals.push_back({&trial, cost});
  }
  std::sort(finals.begin(), finals.end(), [](const FinalCost& a, const FinalCost& b) { return a.cost < b.cost; });
  return finals;
}

RankAgreement agreement_at(const History& history, const std::vector<FinalCost>& finals, std::size_t metric,
                           std::int64_t step) {
  std::vector<std::pair<double, double>> pairs;
  pairs.reserve(finals.size());
  for (const FinalCost& each : finals) {
    const double cost = cost_at_step(history, *each.trial, metric, step);
    if (!std::isnan(cost)) pairs.emplace_back(each.cost, cost);
  }
  RankAgreement agreement{.trials = pairs.size()};
  agreement.tau = kendall_tau_b(std::move(pairs));
  if (agreement.trials < 5 || std::isnan(agreement.tau)) return agreement;
  const double deviation = std::sqrt(0.437 / static_cast<double>(agreement.trials - 4));  // of atanh(tau)
  agreement.standard_error = (1 - agreement.tau * agreement.tau) * deviation;
  agreement.lower = std::tanh(std::atanh(agreement.tau) - kOneSided * deviation);
  return agreement;
}

bool is_trusted(const RankAgreement& agreement) {
  return agreement.trials >= kMinTrialsToTrust && agreement.lower > kMinAgreement;
}

// Changes whenever another trial is complete.
std::uint64_t mark_of_complete(const History& history) {
  std::uint64_t mark = history.seed;
  for (const StudyTrial& trial : history.trials) {
    if (trial.state != TrialState::kComplete) continue;
    const std::uint64_t value = trial.values.empty() ? 0 : std::bit_cast<std::uint64_t>(trial.values[0]);
    mark = (std::rotl(mark, 5) ^ static_cast<std::uint64_t>(trial.number) ^ value) * 0x9e3779b97f4a7c15 + 1;
  }
  return mark;
}

}  // namespace

RankAgreement rank_agreement(const History& history, std::int64_t step) {
  const auto metric = first_objective(history);
  if (!metric) return {};
  return agreement_at(history, final_costs(history, *metric), *metric, step);
}

std::optional<std::int64_t> trusted_step(const History& history) {
  const auto metric = first_objective(history);
  if (!metric) return std::nullopt;
  const std::vector<FinalCost> finals = final_costs(history, *metric);
  if (finals.size() < kMinTrialsToTrust) return std::nullopt;
  const auto longest = static_cast<double>(longest_complete(history, *metric).value_or(0));
  std::int64_t trusted = kNoTrustedStep;
  for (int i = 0; i < kCandidates; ++i) {
    const double step = std::round(longest * std::pow(kFidelityRange, -static_cast<double>(i) / (kCandidates - 1)));
    const auto candidate = static_cast<std::int64_t>(std::max(1.0, step));
    if (candidate == trusted) continue;
    if (!is_trusted(agreement_at(history, finals, *metric, candidate))) break;
    trusted = candidate;
  }
  return trusted;
}

std::int64_t TrustedStep::of(const History& history) {
  if (!is_checked_) return 0;
  const std::uint64_t mark = mark_of_complete(history);
  if (mark != seen_) {
    seen_ = mark;
    step_ = trusted_step(history).value_or(0);
  }
  return step_;
}

}  // namespace trainwarden::tune
