#include "judge/rules/builtin/profiler/recurring_phase.h"

namespace trainwarden::rules {

double RecurringPhase::seconds_of(const TimedStep& step, const OfWorker& worker) const {
  if (step.total_wall) return step.totals[static_cast<std::size_t>(phase_)];
  return worker.seconds + (step.divided ? step.divided->of(phase_) : 0);
}

void RecurringPhase::take(const PhaseShares& shares) {
  ++steps_;
  for (const auto& [name, step] : shares.newest()) {
    if (!workers_.contains(name) && workers_.size() == PhaseShares::kMaxWorkers) continue;
    OfWorker& worker = workers_[name];
    const double seconds = seconds_of(step, worker);
    const bool has_come = seconds > worker.seconds && !step.start_seconds;
    const double passed = seconds - worker.seconds;
    worker.seconds = seconds;
    if (!has_come) continue;
    const double steps = step.total_steps > 0 ? step.total_steps : steps_;
    if (worker.first_steps < 0) worker.first_steps = steps;
    worker.last_steps = steps;
    Recurrence& newest = worker.newest;
    newest.worker = name;
    newest.share = shares.share(name, std::span(&phase_, 1));
    const double counted = step.times[static_cast<std::size_t>(phase_)];
    if (counted > 0) {
      newest.times = static_cast<std::uint64_t>(counted);
      newest.seconds_each = seconds / counted;
      newest.steps_apart = steps / counted;
      continue;
    }
    const double times = static_cast<double>(++newest.times);
    newest.seconds_each += (passed - newest.seconds_each) / times;
    if (newest.times > 1) newest.steps_apart = (worker.last_steps - worker.first_steps) / (times - 1);
  }
}

std::optional<Recurrence> RecurringPhase::found() const {
  const Recurrence* most = nullptr;
  for (const auto& [name, worker] : workers_) {
    if (worker.newest.times < 2) continue;
    if (most == nullptr || worker.newest.share.mean > most->share.mean) most = &worker.newest;
  }
  if (most == nullptr) return std::nullopt;
  return *most;
}

}  // namespace trainwarden::rules
