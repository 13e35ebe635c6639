// Bill: what capture costs the training, and the governors that keep it to the budget, one for each mode.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "data/format/capture_events.h"
#include "hook/capture/budget/budget_governor.h"
#include "hook/capture/budget/restraint.h"
#include "hook/capture/budget/standing_cost.h"
#include "hook/capture/step_counter.h"
#include "trainwarden/hook.h"
#include "trainwarden/mode.h"

namespace trainwarden::capture {

// Any thread may add to it and read it; the rest belongs to the thread that drives training.
class Bill {
 public:
  // How often the bill is written to the run when nothing changes.
  static constexpr std::int64_t kReportIntervalNs = 60'000'000'000;
  // What capture may cost in all before the budget counts: a program of a few seconds is seen whole, a long one does
  // not notice. It is not paid off, but it is on the bill.
  static constexpr std::int64_t kGraceNs = format::kStartAllowanceNs;
  // The steps that were kept until then are still to be written and judged: what is spent beside the training in this
  // time is on the bill and is not paid off either.
  static constexpr std::int64_t kSettlingNs = 2'000'000'000;
  // How often it is asked what is spent beside the training.
  static constexpr std::int64_t kBesideIntervalNs = 1'000'000;

  // The first step begins now. `clock` must outlive this.
  Bill(double budget, const Clock& clock);

  // From now on `spent_ns(wall_ns)` is on the bill, too: what was spent beside the training in all, of so much time.
  void count_beside(std::function<std::int64_t(std::int64_t wall_ns)> spent_ns);
  // To be called some times a second, from any thread: learns what is spent beside the training while nothing is kept.
  void look_beside();

  // Adds the time until its end.
  class Timer {
   public:
    explicit Timer(Bill& bill) : bill_(bill), begin_ns_(bill.clock_.steady_ns()) {}
    ~Timer() { bill_.hook_ns_.fetch_add(bill_.clock_.steady_ns() - begin_ns_, std::memory_order_relaxed); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    Bill& bill_;
    const std::int64_t begin_ns_;
  };
  // What an adapter spent.
  void add_ns(std::int64_t ns) { adapter_ns_.fetch_add(ns, std::memory_order_relaxed); }
  std::int64_t hook_ns() const { return hook_ns_.load(std::memory_order_relaxed); }
  // By training threads: in the hook and in adapters.
  std::int64_t inside_ns() const { return hook_ns() + adapter_ns_.load(std::memory_order_relaxed); }

  // A step ends of which there is nothing to report; the next end_step() takes it into account.
  void pass_idle_step() { ++idle_steps_; }
  // The mode changes, or the run ends: those there were are accounted for in the mode of this step, which is open.
  void end_idle_steps(const StepId& step);
  // A step ends now. The event to write, where there is something to report.
  std::optional<format::BudgetEvent> end_step(const StepId& step, const StepDemand& demand);
  // The event to write at the end; none when no step has ended.
  std::optional<format::BudgetEvent> last_event() const;
  // Something else is captured from now on: what was learned of its cost is forgotten.
  void start_anew(double budget);

  Restraint restraint(Mode mode) const;
  CaptureBill report(Mode mode) const;

 private:
  bool account(const StepId& step, const StepDemand& demand, std::int64_t count);
  std::int64_t newly_beside_ns(std::int64_t now_ns);
  void count_wall(std::int64_t wall_ns, std::int64_t capture_ns, std::int64_t count);
  format::BudgetEvent event_of(const StepId& step) const;

  const Clock& clock_;
  std::atomic<std::int64_t> hook_ns_ = 0;  // inside the hook's calls, where something was kept
  std::atomic<std::int64_t> adapter_ns_ = 0;
  std::int64_t idle_steps_ = 0;  // of the thread that drives training, since the last end_step()

  mutable std::mutex mutex_;  // guards all below
  double budget_;
  std::array<BudgetGovernor, 4> governors_;  // at index_of(mode)
  std::function<std::int64_t(std::int64_t wall_ns)> beside_;
  StandingCost standing_;
  std::int64_t beside_ns_ = 0;  // on the bill
  std::int64_t beside_began_ns_ = 0;
  std::int64_t beside_asked_ns_ = 0;
  std::int64_t settled_ns_ = 0;  // when kSettlingNs is over; 0: the grace is not
  std::int64_t end_count_ = 0;
  StepId last_step_;
  std::int64_t began_ns_;            // the current step
  std::int64_t billed_ns_ = 0;       // inside_ns() at that time
  std::int64_t training_ns_ = 0;     // of the steps that have ended, capture included
  std::int64_t first_train_ns_ = 0;  // of the first, without capture
  std::int64_t reported_ns_;
};

}  // namespace trainwarden::capture
