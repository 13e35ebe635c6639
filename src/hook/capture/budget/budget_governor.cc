#include "hook/capture/budget/budget_governor.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace trainwarden::capture {
namespace {

constexpr FormBits kExtras = kHistogramBit | kHashBit;
constexpr std::int64_t kMostBeforeValues = 1024;
constexpr std::int64_t kMostFactor = 65536;
constexpr double kSpare = 0.75;      // of the budget, to come down to
constexpr double kOutOfLine = 2;     // times the usual
constexpr double kProbeFactor = 10;  // times the budget
constexpr double kMostProbeShare = 0.1;
constexpr int kSettling = 4;     // captures, from the first one on, in which it comes down as it likes
constexpr int kCalmSteps = 256;  // after a climb, before it comes down again
constexpr double kSmoothing = 1.0 / 16;
constexpr double kIdleSmoothing = 1.0 / 64;  // of all there is: nobody else pays for it
constexpr int kRemembered = 8;               // steps that captured
constexpr double kLeastAllowance = 0.1;      // of the budget, when what cannot be left out takes it all
constexpr double kMostCreditSteps = 4096;    // what a cheap time may leave for an expensive one
constexpr double kMostDebtSteps = 65536;     // a process that was suspended in the hook must not wait forever
constexpr double kGuessedRatio = 2;          // of a level's cost to that of the next, while it is not known
constexpr double kAllLossesShare = 0.8;      // of the budget, for losses at every step, where there is more to capture
constexpr double kLossesShare = 0.5;         // the same, when that is not enough for every step
constexpr double kSignalsShare = 0.5;        // for signals, of what losses leave
constexpr double kBoxShare = 0.25;           // of the budget, for the black box
constexpr int kCalmTimes = 8;                // of a rhythm, before it becomes more frequent
constexpr std::size_t kUnsureTimes = 5;      // of a rhythm, before what it costs is known
constexpr std::int64_t kMostUnsure = 16;     // a factor until then
constexpr std::int64_t kMostSmoothings = 64;
constexpr int kForgotten = 256;  // steps that captured, after which other levels may have other costs

double smoothed(double usual, double value) {
  return usual + (std::min(value, kOutOfLine * usual) - usual) * kSmoothing;
}

// The rungs, from the one that leaves out nothing to the last.
std::vector<Restraint> ladder(FormBits forms) {
  std::vector<Restraint> rungs = {Restraint()};
  Restraint rung;
  rung.dropped = forms & kExtras;
  if (rung.dropped != 0) rungs.push_back(rung);
  while (rung.interval_factor < kMostFactor) {
    rung.interval_factor *= 2;
    rungs.push_back(rung);
    if (rung.interval_factor != kMostBeforeValues || (forms & kValuesBit) == 0) continue;
    rung.dropped |= kValuesBit;
    rungs.push_back(rung);
  }
  return rungs;
}

}  // namespace

void BudgetGovernor::UsualCost::add(double value_ns) {
  ++count;
  if (count <= 2) {
    ns = value_ns;
  } else {
    ns += (std::min(value_ns, kOutOfLine * ns) - ns) / std::min(count - 1, kRemembered);
  }
}

// It becomes rarer at once, and more frequent only one step at a time, once it is known what it costs: until then it
// comes soon again, and may cost more.
bool BudgetGovernor::Rhythm::review(const Allowance& allowance) {
  const std::int64_t before = factor;
  const bool is_unsure = cost.count() < kUnsureTimes;
  const bool is_settling = cost.count() <= TypicalCost::kRemembered;
  const double allowance_ns = (is_unsure ? kProbeFactor : 1) * allowance.ns;
  const auto may_be_halved = [&] { return factor > 1 && 2 * per_step_ns(allowance.beside) <= kSpare * allowance_ns; };
  const std::int64_t most = is_unsure ? kMostUnsure : kMostFactor;
  while (factor < most && per_step_ns(allowance.beside) > allowance_ns) factor *= 2;
  if (factor > before) {
    calm = 0;
  } else if (is_settling) {
    while (may_be_halved()) factor /= 2;
  } else if (++calm >= kCalmTimes && may_be_halved()) {
    factor /= 2;
    calm = 0;
  }
  return factor != before;
}

Restraint BudgetGovernor::restraint() const {
  Restraint all = restraint_;
  all.losses_factor = losses_.factor;
  // Signals do not come without losses; and what losses cost shows where they come alone.
  all.signals_factor = losses_.factor == 1 ? signals_.factor : std::max(signals_.factor, 2 * losses_.factor);
  all.box_factor = box_.factor;
  return all;
}

bool BudgetGovernor::end_step(const Step& step) {
  if (budget_ <= 0 || budget_ >= 1) return false;
  account(step);
  if (step.free) {
    balance_ns_ = 0;
    return false;
  }
  const Restraint before = restraint();
  review_rhythms(step.demand);
  // When the first step began is not known: how long a step takes is seen with the second.
  if (step.demand.wanted || end_count_ == 2) review(step.demand);
  if (step.demand.forms != 0) keep_losses_alone();
  return restraint() != before;
}

// What a loss costs shows at steps that keep nothing else: losses come more often than what the ladder keeps.
void BudgetGovernor::keep_losses_alone() {
  if (restraint_.interval_factor > 1) losses_.factor = std::min(losses_.factor, restraint_.interval_factor / 2);
}

void BudgetGovernor::start_anew(double budget) {
  budget_ = budget;
  restraint_ = Restraint();
  losses_ = signals_ = box_ = Rhythm();
  usual_.fill(UsualCost());
  capture_count_ = 0;
  captures_at_level_ = 0;
}

void BudgetGovernor::account(const Step& step) {
  const auto wall_ns = static_cast<double>(step.wall_ns);
  const auto capture_ns = static_cast<double>(step.capture_ns);
  const auto beside_ns = static_cast<double>(step.beside_ns);
  const StepDemand& demand = step.demand;
  ++end_count_;
  learn_step_time(std::max(wall_ns - capture_ns, 1.0) / static_cast<double>(step.count), step.count);
  const double earned_ns = end_count_ == 1 ? 0 : budget_ * wall_ns;
  standing_ = step.standing;
  unassigned_beside_ns_ += beside_ns - standing_ * wall_ns;
  if (demand.wanted) {
    balance_ns_ += earned_ns - capture_ns;
    forgive_first(capture_ns);
  } else {
    balance_ns_ += std::max(earned_ns - capture_ns, kLeastAllowance * earned_ns);
  }
  balance_ns_ -= beside_ns;
  learn_from_kept(step);
  if (end_count_ == 1) return;
  const double each_step_ns = budget_ * step_ns_;
  balance_ns_ = std::clamp(balance_ns_, -kMostDebtSteps * each_step_ns, kMostCreditSteps * each_step_ns);
}

void BudgetGovernor::learn_from_kept(const Step& step) {
  const StepDemand& demand = step.demand;
  const auto capture_ns = static_cast<double>(step.capture_ns);
  // A step that keeps something costs no less than one that keeps nothing. Where none keeps nothing this is how it
  // shows that those before were dear for another reason, as when operators were recorded in them.
  idle_ns_ = std::min(idle_ns_, capture_ns);
  const double cost_ns = capture_ns - idle_ns_;
  if (demand.wanted) {
    learn_cost(cost_ns);
  } else if (demand.boxed && !demand.listed) {
    box_.cost.add(cost_ns);
  } else if (demand.signals && !demand.listed) {
    signals_.cost.add(std::max(cost_ns - losses_.cost.ns(), 0.0));
  } else if (demand.losses && !demand.listed) {
    losses_.cost.add(cost_ns);
  } else if (!demand.listed) {
    return learn_idle_cost(capture_ns / static_cast<double>(step.count), step.count);
  }
  beside_.add(cost_ns, std::exchange(unassigned_beside_ns_, 0.0));
}

// What the first capture cost beyond the second it cost once: it is not paid off, as that could take forever where
// steps are short.
void BudgetGovernor::forgive_first(double capture_ns) {
  if (++capture_count_ == 1) first_capture_ns_ = capture_ns;
  if (capture_count_ == 2) balance_ns_ += std::max(first_capture_ns_ - capture_ns, 0.0);
}

void BudgetGovernor::learn_step_time(double training_ns, std::int64_t count) {
  step_count_ += count;
  if (end_count_ <= 2) {
    step_ns_ = training_ns;
    return;
  }
  for (std::int64_t i = 0; i < std::min(count, kMostSmoothings); ++i) step_ns_ = smoothed(step_ns_, training_ns);
}

void BudgetGovernor::learn_idle_cost(double cost_ns, std::int64_t count) {
  const double old_share = std::pow(1 - kIdleSmoothing, static_cast<double>(count));
  idle_ns_ += (cost_ns - idle_ns_) * (idle_known_ ? 1 - old_share : 1);
  idle_known_ = true;
}

void BudgetGovernor::learn_cost(double cost_ns) {
  UsualCost& here = usual_[level_of(restraint_)];
  here.add(cost_ns);
  if (++captures_at_level_ < kForgotten) return;
  captures_at_level_ = 0;
  const UsualCost kept = here;
  usual_.fill(UsualCost());
  here = kept;
}

bool BudgetGovernor::review_rhythms(const StepDemand& demand) {
  if (demand.wanted || demand.listed) return false;
  const double beside = beside_.ratio();
  if (demand.boxed) return box_.review({std::min(kBoxShare * free_ns(), beyond_losses_ns()), beside});
  if (demand.signals) return signals_.review({kSignalsShare * beyond_losses_ns(), beside});
  return demand.losses && losses_.review({losses_allowance_ns(demand), beside});
}

// All of the budget where there is nothing else.
double BudgetGovernor::losses_allowance_ns(const StepDemand& demand) const {
  if (demand.forms == 0 && signals_.cost.count() == 0) return free_ns();
  const bool is_cheap = losses_.each_ns(beside_.ratio()) <= kAllLossesShare * free_ns();
  return (is_cheap ? kAllLossesShare : kLossesShare) * free_ns();
}

double BudgetGovernor::beyond_losses_ns() const {
  return std::max(free_ns() - losses_.per_step_ns(beside_.ratio()), kLeastAllowance * budget_ * step_ns_);
}

bool BudgetGovernor::review(const StepDemand& demand) {
  const std::vector<Restraint> rungs = ladder(demand.forms);
  const auto now = std::find_if(rungs.begin(), rungs.end() - 1, [&](const Restraint& rung) {
    return rung.interval_factor >= restraint_.interval_factor && level_of(rung) >= level_of(restraint_);
  });
  auto next = now;
  if (!affordable(*now, demand, 1)) {
    next = std::find_if(now, rungs.end() - 1, [&](const Restraint& rung) { return affordable(rung, demand, 1); });
    climbed_at_ = step_count_;
  } else if (capture_count_ <= kSettling || step_count_ - climbed_at_ >= kCalmSteps) {
    next = std::find_if(rungs.begin(), now, [&](const Restraint& rung) { return affordable(rung, demand, kSpare); });
  }
  if (*next == restraint_) return false;
  if (level_of(*next) != level_of(restraint_)) captures_at_level_ = 0;
  restraint_ = *next;
  return true;
}

// Its usual cost is paid by the steps until the next time, and so is the debt that there is now.
bool BudgetGovernor::affordable(const Restraint& restraint, const StepDemand& demand, double spare) const {
  const double steps = static_cast<double>(restraint.interval_factor) * static_cast<double>(demand.save_interval);
  const double usual_ns = usual_cost_ns(level_of(restraint)) * (1 + beside_.ratio());
  if (capture_count_ < 2) return usual_ns <= steps * probe_share() * step_ns_;
  const double earned_ns = steps * allowance_ns();
  return usual_ns <= spare * earned_ns && -balance_ns_ <= earned_ns;
}

// What may be spent to see a second time what capture costs: the first time says little.
double BudgetGovernor::probe_share() const {
  return std::max(budget_, std::min(kProbeFactor * budget_, kMostProbeShare));
}

// A step's share of the budget, beyond what cannot be left out.
double BudgetGovernor::free_ns() const {
  const double budget_ns = budget_ * step_ns_;
  return std::max(budget_ns - idle_ns_ - standing_ * step_ns_, kLeastAllowance * budget_ns);
}

// The same for the ladder.
double BudgetGovernor::allowance_ns() const {
  const double beside = beside_.ratio();
  const double others_ns = signals_.per_step_ns(beside) + box_.per_step_ns(beside);
  return std::max(beyond_losses_ns() - others_ns, kLeastAllowance * budget_ * step_ns_);
}

double BudgetGovernor::usual_cost_ns(std::size_t level) const {
  if (usual_[level].count > 1) return usual_[level].ns;
  for (std::size_t stricter = level + 1; stricter < kLevels; ++stricter) {
    if (usual_[stricter].count > 0) return kGuessedRatio * usual_[stricter].ns;
  }
  for (std::size_t looser = level + 1; looser > 0; --looser) {
    if (usual_[looser - 1].count > 0) return usual_[looser - 1].ns;
  }
  return 0;
}

std::size_t BudgetGovernor::level_of(const Restraint& restraint) {
  if ((restraint.dropped & kValuesBit) != 0) return 2;
  return restraint.dropped != 0 ? 1 : 0;
}

}  // namespace trainwarden::capture
