// Runs with phases and samples of the machine, and what a rule makes of them in an engine. For the tests of this
// folder.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/rules/builtin/profiler/phase_testing.h"
#include "judge/rules/engine.h"

namespace trainwarden::rules {

// By metric: counters as their rates, in their unit a second. "gpu.utilisation@GPU-0" is of a device, and of a process
// with a name that begins so.
using MachineValues = std::map<std::string, double>;

inline Metric metric_of(const std::string& text, const std::string& host) {
  const std::size_t at = text.find('@');
  const std::string name = text.substr(0, at);
  const auto begins = [&](const char* head) { return name.rfind(head, 0) == 0; };
  const bool is_gauge = name == "cpu.effective" || name == "tree.processes" || name == "process.threads" ||
                        begins("gpu.") || begins("memory.");
  Metric metric{name, "", is_gauge ? MetricKind::kGauge : MetricKind::kCounter, MetricSource::kHost, host};
  if (at == std::string::npos) return metric;
  metric.source = begins("gpu.") ? MetricSource::kDevice : MetricSource::kProcess;
  metric.instance = text.substr(at + 1);
  return metric;
}

// Half second by half second: steps, then a tick of the sampler. The samples of one machine; others come by sample().
class MachineRun {
 public:
  explicit MachineRun(int world_size = 1) : phased_(world_size), world_size_(world_size) {}

  // Train steps of a tenth of a second; `phases` are shares of them. The first step of all is the run's start.
  void train(double seconds, const PhaseSeconds& phases, const MachineValues& values) {
    for (int i = 0; i < static_cast<int>(seconds * 2); ++i) {
      for (int step = 0; step < 5; ++step) {
        PhaseSeconds of_step;
        for (const auto& [phase, share] : phases) of_step[phase] = share / 10;
        std::vector<TestTensor> extra = std::move(extra_);
        extra_.clear();
        phased_.step(of_step, 0, std::move(extra));
        for (int worker = 1; worker < world_size_; ++worker) run().add({.step = next_step_, .worker = worker});
        ++next_step_;
      }
      sample(values);
    }
  }
  // Without steps.
  void rest(double seconds, const MachineValues& values) {
    for (int i = 0; i < static_cast<int>(seconds * 2); ++i) {
      run().clock().advance_ns(kHalfSecond);
      sample(values);
    }
  }
  // One tick, half a second after the last.
  void sample(const MachineValues& values, int machine = TestRun::kMachine, const std::string& host = "node1") {
    std::vector<std::pair<Metric, std::vector<double>>> series;
    for (const auto& [name, value] : values) {
      Metric metric = metric_of(name, host);
      double& total = totals_[{machine, name}];
      total = metric.kind == MetricKind::kCounter ? total + value / 2 : value;
      series.emplace_back(std::move(metric), std::vector<double>{total});
    }
    run().sample_together(series, 1, machine);
  }
  // Goes into the next step.
  void say(TestTensor tensor) { extra_.push_back(std::move(tensor)); }
  void operators(const OperatorBatch& batch) { run().operators(batch); }
  std::int64_t next_step() const { return next_step_; }
  void end() {
    if (next_step_ > 0) {
      for (int worker = 0; worker < world_size_; ++worker) run().end(worker);
    }
    run().end(TestRun::kMachine);
  }
  TestRun& run() { return phased_.run(); }

 private:
  static constexpr std::int64_t kHalfSecond = 500'000'000;
  PhasedRun phased_;
  const int world_size_;
  std::int64_t next_step_ = 0;
  std::vector<TestTensor> extra_;
  std::map<std::pair<int, std::string>, double> totals_;
};

struct Judged {
  RuleStatus status = RuleStatus::kInProgress;
  std::string details;
  std::vector<VerdictRecord> fired;  // repeats are left out
  const Verdict& verdict() const { return fired.at(0).verdict; }
};

// What the rule says of the run as it is now; `ended`: of one that is over.
inline Judged judge_run(MachineRun& run, const std::string& spec_text) {
  const auto spec = parse_rule_spec(spec_text);
  if (!spec.ok()) {
    ADD_FAILURE() << spec.status().to_string();
    return {};
  }
  auto rules = create_engine_rules(std::span(&*spec, 1));
  if (!rules.ok()) {
    ADD_FAILURE() << rules.status().to_string();
    return {};
  }
  const auto trial = run.run().open();
  EngineOptions options;
  options.clock = &run.run().clock();
  Judged judged;
  Engine engine(*trial, *std::move(rules), options,
                [&](const VerdictRecord& record) { judged.fired.push_back(record); });
  EXPECT_TRUE(engine.poll().ok());
  engine.finish();
  judged.status = engine.statuses().at(0).status;
  judged.details = engine.statuses().at(0).details;
  return judged;
}

inline bool says(const Judged& judged, std::string_view text) {
  return judged.details.find(text) != std::string::npos;
}

}  // namespace trainwarden::rules
