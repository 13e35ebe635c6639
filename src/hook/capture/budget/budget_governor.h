// BudgetGovernor: keeps what capture costs under its share of the training's time, by leaving out as little as it must.
//
// It climbs a ladder: without histograms and hashes; intervals 2, 4, ... 1024 times as long; values as statistics;
// intervals up to 65536 times as long. Two things make it climb after a step that captured: the usual cost of such a
// step, spread over the steps until the next one, is more than the budget; or this one has run up a debt that will not
// be paid off by then. It climbs as far as that takes, at once, so that a step that was far too expensive is not
// repeated before it has been paid for. (Only the very first is not paid for, as it warms things up: the second comes
// when that costs no more than ten times the budget, and shows more.) It comes down as far as the usual cost allows
// with a quarter of the budget to spare, and not soon after it has climbed, so that it does not swing.
//
// Losses come first: they are kept at every step unless they alone take most of the budget. Signals and what the black
// box holds have intervals of their own, each with its part of what losses leave; the rest is for the ladder. What is
// spent beside the training, on writing and judging what was kept, is divided among the steps that were kept as what
// they cost inside it is: a loss does not pay for the statistics of all weights. What is spent there however little is
// kept is taken from the budget first.
//
// Powers of two: the workers of a job, each with a governor of its own, still have steps in common.
#pragma once

#include <array>
#include <cstdint>

#include "hook/capture/budget/beside_ratio.h"
#include "hook/capture/budget/restraint.h"
#include "hook/capture/budget/typical_cost.h"

namespace trainwarden::capture {

// Pure: it sees only its arguments. One thread at a time.
class BudgetGovernor {
 public:
  // `budget`: the share; 0 (or 1 and more) restrains nothing.
  explicit BudgetGovernor(double budget) : budget_(budget) {}

  struct Step {
    std::int64_t wall_ns = 0;     // from the end of the step before
    std::int64_t capture_ns = 0;  // of it
    StepDemand demand;
    std::int64_t beside_ns = 0;  // the same time, beside the training
    std::int64_t count = 1;      // steps; all but the last one were idle
    double standing = 0;         // the share of the time that is spent beside the training whatever is kept
    bool free = false;           // what it cost is not to be paid: only learned from
  };
  // Takes the step into account. True: restraint() has changed, for the steps to come.
  bool end_step(const Step& step);
  // Something else is captured from now on: costs are learned again, and nothing is left out until they are. Debts
  // stay.
  void start_anew(double budget);

  Restraint restraint() const;

 private:
  // A cost that comes again and again, at one level of the ladder. Its first value does not count once there is a
  // second: it has warmed things up. One that is far out of line counts little, as a debt accounts for it.
  struct UsualCost {
    double ns = 0;
    int count = 0;
    void add(double value_ns);
  };
  // Something that comes at an interval of its own.
  struct Rhythm {
    TypicalCost cost;  // beyond idle_ns_
    std::int64_t factor = 1;
    int calm = 0;  // how often it came since the factor changed
    // What it costs a step is to be no more than this; `beside`: what each nanosecond inside costs beside the training.
    struct Allowance {
      double ns;
      double beside;
    };
    // True: the factor has changed.
    bool review(const Allowance& allowance);
    double each_ns(double beside) const { return cost.ns() * (1 + beside); }
    double per_step_ns(double beside) const { return each_ns(beside) / static_cast<double>(factor); }
  };
  // What a form costs: nothing dropped, without histograms and hashes, without values.
  static constexpr std::size_t kLevels = 3;

  static std::size_t level_of(const Restraint& restraint);
  void account(const Step& step);
  void forgive_first(double capture_ns);
  void learn_step_time(double training_ns, std::int64_t count);
  void learn_from_kept(const Step& step);
  void learn_idle_cost(double cost_ns, std::int64_t count);
  void learn_cost(double cost_ns);
  bool review(const StepDemand& demand);
  bool review_rhythms(const StepDemand& demand);
  void keep_losses_alone();
  bool affordable(const Restraint& restraint, const StepDemand& demand, double spare) const;
  double probe_share() const;
  double allowance_ns() const;
  double free_ns() const;
  double losses_allowance_ns(const StepDemand& demand) const;
  double beyond_losses_ns() const;
  double usual_cost_ns(std::size_t level) const;  // known or guessed

  double budget_;
  Restraint restraint_;  // of the ladder
  Rhythm losses_;
  Rhythm signals_;
  Rhythm box_;
  std::int64_t end_count_ = 0;  // calls of end_step()
  std::int64_t step_count_ = 0;
  double step_ns_ = 0;  // of a usual step, without capture
  double idle_ns_ = 0;  // what a step costs that captures nothing that could be left out
  bool idle_known_ = false;
  double balance_ns_ = 0;            // what is left to spend; negative: a debt
  double standing_ = 0;              // share of the time
  double unassigned_beside_ns_ = 0;  // since the last step that kept something
  BesideRatio beside_;
  std::array<UsualCost, kLevels> usual_;  // beyond idle_ns_, of a step that captures
  std::int64_t climbed_at_ = 0;           // the step_count_ of then
  std::int64_t capture_count_ = 0;        // steps that captured
  double first_capture_ns_ = 0;
  int captures_at_level_ = 0;  // since the level changed
};

}  // namespace trainwarden::capture
