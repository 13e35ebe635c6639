// Train steps with phases, for the tests of this folder.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {

using PhaseSeconds = std::map<std::string, double>;  // by phase: "data_wait"

// Writes train steps and their phases, with the totals that an adapter keeps.
class PhasedRun {
 public:
  explicit PhasedRun(int world_size = 1) : run_(world_size), workers_(static_cast<std::size_t>(world_size)) {}

  // The first step of a worker is its start, as in a run. `extra`: other scalars and tensors of the step.
  void step(const PhaseSeconds& phases, int worker = 0, std::vector<TestTensor> extra = {}, bool is_written = true) {
    OfWorker& state = workers_.at(static_cast<std::size_t>(worker));
    double wall = 0;
    for (const auto& [phase, seconds] : phases) {
      wall += seconds;
      state.totals[phase] += seconds;
    }
    state.wall += wall;
    run_.clock().advance_ns(static_cast<std::int64_t>(wall * 1e9));
    const std::int64_t step = state.steps++;
    if (!is_written) {
      state.times.push_back(static_cast<float>(wall));
      return;
    }
    if (has_step_times_ && !state.times.empty()) {
      extra.push_back(kept("trainwarden/step_times", state.times, {"signals"}));
      state.times.clear();
    }
    if (step > 0) state.times.push_back(static_cast<float>(wall));
    std::vector<TestTensor> tensors = std::move(extra);
    const auto add = [&](const std::string& name, double value) {
      tensors.push_back(scalar(name, static_cast<float>(value), {"scalars"}));
    };
    for (const auto& [phase, seconds] : phases) {
      if (seconds > 0) add("phase/" + phase, seconds);
    }
    add(step == 0 ? "phase/start" : "phase/step", wall);
    for (const char* const phase : {"data_wait", "data_start", "evaluation", "checkpoint"}) {
      if (state.totals[phase] > 0) add(std::string("phase_total/") + phase, state.totals[phase]);
    }
    add("phase_total/wall", state.wall);
    add("phase_total/steps", static_cast<double>(state.steps));
    run_.add({.step = step, .tensors = std::move(tensors), .mode = Mode::kTrain, .worker = worker});
  }
  void steps(std::int64_t count, const PhaseSeconds& phases, int worker = 0) {
    for (std::int64_t i = 0; i < count; ++i) step(phases, worker);
  }
  TestRun& run() { return run_; }
  // From now on each step that is written has the times of those before it.
  void write_step_times() { has_step_times_ = true; }

 private:
  struct OfWorker {
    std::int64_t steps = 0;
    double wall = 0;
    PhaseSeconds totals;
    std::vector<float> times;  // of steps since the last one that was written, with that
  };
  TestRun run_;
  std::vector<OfWorker> workers_;
  bool has_step_times_ = false;
};

// Of a verdict; fails the test when it is not there.
inline double evidence_value(const Verdict& verdict, std::string_view quantity) {
  for (const Evidence& evidence : verdict.evidence) {
    if (evidence.quantity == quantity) return evidence.value;
  }
  ADD_FAILURE() << "no evidence " << quantity << " in: " << verdict.message;
  return 0;
}

}  // namespace trainwarden::rules
