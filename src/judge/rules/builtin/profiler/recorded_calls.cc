#include "judge/rules/builtin/profiler/recorded_calls.h"

#include <algorithm>
#include <utility>

#include "read/profile/call_family.h"
#include "read/profile/call_nesting.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

namespace {

std::int64_t phase_ns(Trial& trial, const std::string& phase, const OperatorBatch& batch, const std::string& worker) {
  const auto seconds = trial.scalar("phase/" + phase, batch.global_step, Mode::kGlobal, worker);
  return seconds.ok() && *seconds > 0 ? static_cast<std::int64_t>(*seconds * 1e9) : 0;
}

std::int64_t wall_of(Trial& trial, const OperatorBatch& batch, const std::string& worker) {
  std::int64_t wall = phase_ns(trial, "step", batch, worker) - phase_ns(trial, "capture", batch, worker);
  if (wall <= 0) wall = profile::span_of(batch).duration_ns();
  const auto recording = static_cast<std::int64_t>(batch.calls.size()) * kRecordingNs;
  return std::max(wall - recording, wall / 2);
}

std::int64_t computing_ns(Trial& trial, const OperatorBatch& batch, const std::string& worker) {
  std::int64_t sum = 0;
  for (const Phase phase : kComputing) sum += phase_ns(trial, std::string(name(phase)), batch, worker);
  return sum;
}

}  // namespace

std::vector<RecordedStep> RecordedCalls::take(const StepWindow& window) {
  std::vector<RecordedStep> found;
  Trial* const trial = window.trial();
  const std::vector<std::string> workers = window.workers();
  if (trial == nullptr || workers.empty() || steps_ >= kMostSteps || calls_ >= kMostCalls) return found;
  const std::vector<std::int64_t> recorded = trial->operator_steps(workers.front());
  auto next = std::upper_bound(recorded.begin(), recorded.end(), last_step_);
  for (; next != recorded.end() && found.size() < kMostAtOnce && steps_ < kMostSteps && calls_ < kMostCalls; ++next) {
    last_step_ = *next;
    auto batch = trial->operators(workers.front(), *next);
    if (!batch.ok()) continue;  // damaged: other steps say the same
    if (batch->mode == Mode::kEval || batch->mode == Mode::kPredict) continue;
    *batch = profile::calls_of(*std::move(batch), profile::CallFamily::kOperators);
    ++steps_;
    calls_ += batch->calls.size();
    const std::int64_t wall_ns = wall_of(*trial, *batch, workers.front());
    const std::int64_t of_program_ns = computing_ns(*trial, *batch, workers.front());
    if (wall_ns > 0) found.push_back({std::move(*batch), wall_ns, of_program_ns});
  }
  return found;
}

}  // namespace trainwarden::rules
