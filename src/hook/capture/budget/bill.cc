#include "hook/capture/budget/bill.h"

#include <algorithm>

namespace trainwarden::capture {
namespace {

// Of the budget, for what is measured. The rest is for what nobody can measure from inside: capture empties caches that
// the training fills again, and a call that is only passed by costs some nanoseconds.
constexpr double kMeasuredShare = 0.5;
// Of the budget: what is spent beside the training even while nothing is kept, before it has been seen.
constexpr double kGuessedStandingShare = 0.2;

double governed(double budget) {
  return budget < 1 ? kMeasuredShare * budget : budget;
}

}  // namespace

Bill::Bill(double budget, const Clock& clock)
    : clock_(clock),
      budget_(budget),
      governors_{BudgetGovernor(governed(budget)), BudgetGovernor(governed(budget)), BudgetGovernor(governed(budget)),
                 BudgetGovernor(governed(budget))},
      standing_(kGuessedStandingShare * budget),
      began_ns_(clock.steady_ns()),
      reported_ns_(began_ns_) {}

void Bill::count_beside(std::function<std::int64_t(std::int64_t wall_ns)> spent_ns) {
  std::lock_guard lock(mutex_);
  beside_ = std::move(spent_ns);
  beside_began_ns_ = beside_asked_ns_ = clock_.steady_ns();
}

void Bill::look_beside() {
  std::lock_guard lock(mutex_);
  if (!beside_) return;
  const std::int64_t now_ns = clock_.steady_ns();
  standing_.look(now_ns, beside_(now_ns - beside_began_ns_));
}

std::optional<format::BudgetEvent> Bill::end_step(const StepId& step, const StepDemand& demand) {
  std::lock_guard lock(mutex_);
  const bool changed = account(step, demand, std::exchange(idle_steps_, 0) + 1);
  if (!changed && began_ns_ - reported_ns_ < kReportIntervalNs) return std::nullopt;
  reported_ns_ = began_ns_;
  return event_of(step);
}

void Bill::end_idle_steps(const StepId& step) {
  std::lock_guard lock(mutex_);
  if (idle_steps_ == 0) return;
  account({step.global_step - 1, step.mode, step.mode_step - 1}, StepDemand(), std::exchange(idle_steps_, 0));
}

// Of the steps since the last time; true when more or less is left out from now on.
bool Bill::account(const StepId& step, const StepDemand& demand, std::int64_t count) {
  const std::int64_t now_ns = clock_.steady_ns();
  const std::int64_t total_ns = inside_ns();
  const std::int64_t wall_ns = now_ns - std::exchange(began_ns_, now_ns);
  const std::int64_t spent_ns = total_ns - std::exchange(billed_ns_, total_ns);
  const std::int64_t beside_ns = newly_beside_ns(now_ns);
  count_wall(wall_ns, spent_ns, count);
  last_step_ = step;
  if (demand.wanted || demand.listed || demand.losses || demand.signals) standing_.note_kept(now_ns);
  const bool free = total_ns + beside_ns_ <= kGraceNs;
  if (!free && settled_ns_ == 0) settled_ns_ = now_ns + kSettlingNs;
  return governors_[index_of(step.mode)].end_step({.wall_ns = wall_ns,
                                                   .capture_ns = spent_ns,
                                                   .demand = demand,
                                                   .beside_ns = now_ns < settled_ns_ ? 0 : beside_ns,
                                                   .count = count,
                                                   .standing = beside_ ? standing_.share() : 0,
                                                   .free = free});
}

std::int64_t Bill::newly_beside_ns(std::int64_t now_ns) {
  if (!beside_ || now_ns - beside_asked_ns_ < kBesideIntervalNs) return 0;
  beside_asked_ns_ = now_ns;
  const std::int64_t total_ns = std::max(beside_(now_ns - beside_began_ns_), beside_ns_);
  return total_ns - std::exchange(beside_ns_, total_ns);
}

// A hook is opened long before the first step begins, and nobody says when that is: it is taken to have trained no
// longer than the second.
void Bill::count_wall(std::int64_t wall_ns, std::int64_t spent_ns, std::int64_t count) {
  training_ns_ += wall_ns;
  const std::int64_t train_ns = wall_ns - spent_ns;
  if (++end_count_ == 1) first_train_ns_ = train_ns;
  if (end_count_ == 2) training_ns_ -= std::max(first_train_ns_ - train_ns / count, std::int64_t{0});
}

void Bill::start_anew(double budget) {
  std::lock_guard lock(mutex_);
  budget_ = budget;
  for (BudgetGovernor& governor : governors_) governor.start_anew(governed(budget));
}

Restraint Bill::restraint(Mode mode) const {
  std::lock_guard lock(mutex_);
  return governors_[index_of(mode)].restraint();
}

std::optional<format::BudgetEvent> Bill::last_event() const {
  std::lock_guard lock(mutex_);
  return end_count_ == 0 ? std::nullopt : std::optional(event_of(last_step_));
}

format::BudgetEvent Bill::event_of(const StepId& step) const {
  const Restraint restraint = governors_[index_of(step.mode)].restraint();
  format::BudgetEvent event;
  event.global_step = step.global_step;
  event.mode = step.mode;
  event.interval_factor = restraint.interval_factor;
  event.losses_factor = restraint.losses_factor;
  event.signals_factor = restraint.signals_factor;
  event.dropped = restraint.dropped_names();
  event.budget = budget_;
  event.training_ns = training_ns_;
  event.capture_ns = billed_ns_ + beside_ns_;
  return event;
}

CaptureBill Bill::report(Mode mode) const {
  std::lock_guard lock(mutex_);
  const Restraint restraint = governors_[index_of(mode)].restraint();
  CaptureBill bill;
  bill.budget = budget_;
  bill.training_ns = training_ns_;
  bill.capture_ns = billed_ns_ + beside_ns_;
  bill.interval_factor = restraint.interval_factor;
  bill.dropped = restraint.dropped_names();
  return bill;
}

}  // namespace trainwarden::capture
