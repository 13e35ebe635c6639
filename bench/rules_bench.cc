// What judging costs: inside the training, beside it, and later over recorded runs; with all rules that come by default
// and 1,000 tensors in each step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "check_bandwidth.h"
#include "healthy_training.h"
#include "temporary_folder.h"
#include "trainwarden/guard.h"
#include "trainwarden/hook.h"
#include "trainwarden/rule.h"
#include "trainwarden/trial.h"
#include "trainwarden/watch.h"

namespace trainwarden::bench {
namespace {

using WallClock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

double thread_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double percentile_99(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.at(samples.size() * 99 / 100);
}

// --- rules.in_process_p99_ms ----------------------------------------------------------------------------------------

struct JudgingTimes {
  std::vector<double> before_step_ms;
  std::vector<double> step_end_ms;
};

JudgingTimes judge_inside(const std::vector<RuleSpec>& rules, int steps) {
  HookOptions options = statistics_of_everything();
  options.dry_run = true;
  const auto hook = required(Hook::open(options));
  if (!rules.empty()) must(Guard::install(*hook, rules, {.on_fire = OnFire::kReport, .keep_going = true}));
  Training training(*hook);
  JudgingTimes times;
  for (int step = 0; step < steps; ++step) {
    training.forward_and_backward();
    const double begin_ms = thread_ms();
    hook->judge_step();
    times.before_step_ms.push_back(thread_ms() - begin_ms);
    training.optimizer_steps();
    const double end_begin_ms = thread_ms();
    hook->end_step();
    times.step_end_ms.push_back(thread_ms() - end_begin_ms);
    must(hook->flush());
  }
  return times;
}

Result<std::vector<Figure>> in_process() {
  constexpr int kRounds = 5;
  constexpr int kSteps = 300;
  const std::vector<RuleSpec> rules = required(Guard::parse_rules({"default"}));
  std::vector<double> before_p99, before_median, whole_p99, without;
  for (int round = 0; round < kRounds; ++round) {
    const JudgingTimes times = judge_inside(rules, kSteps);
    std::vector<double> whole = times.before_step_ms;
    for (std::size_t i = 0; i < whole.size(); ++i) whole[i] += times.step_end_ms[i];
    before_p99.push_back(percentile_99(times.before_step_ms));
    before_median.push_back(spread_of(times.before_step_ms).median);
    whole_p99.push_back(percentile_99(whole));
    const JudgingTimes none = judge_inside({}, kSteps);
    without.push_back(spread_of(none.step_end_ms).median + spread_of(none.before_step_ms).median);
  }
  const std::string what = fmt::format("{} rules over 1,000 tensors; time of the training's thread", rules.size());
  return std::vector<Figure>{
      {"rules.in_process_p99_ms", spread_of(before_p99), "ms", at_most(1), what + ", before the optimizer steps"},
      {"rules.in_process_p99_ms.median", spread_of(before_median), "ms", {}, "the same, the step in the middle"},
      {"rules.in_process_p99_ms.whole_step", spread_of(whole_p99), "ms", {}, "and what is judged when the step ends"},
      {"rules.in_process_p99_ms.no_rules", spread_of(without), "ms", {}, "both calls without a guard"},
  };
}

// --- rules.beside_p99_ms --------------------------------------------------------------------------------------------

// Fires at every second step, so that a verdict is reported each time.
class Metronome final : public Rule {
 public:
  Verdict evaluate(const StepWindow& window) override {
    if (window.global_step() % 2 == 0) return Verdict::ok();
    return {Outcome::kFired, Severity::kInfo, "tick", "", {}};
  }
};

// When things happened to each step, from any thread.
class Instants {
 public:
  void note(std::int64_t step) {
    const std::lock_guard lock(mutex_);
    instants_.emplace(step, WallClock::now());
  }
  std::map<std::int64_t, WallClock::time_point> all() {
    const std::lock_guard lock(mutex_);
    return instants_;
  }

 private:
  std::mutex mutex_;
  std::map<std::int64_t, WallClock::time_point> instants_;
};

// Judges the run in a thread of its own until it ends, as `trainwarden run` does.
std::jthread judge_beside(const std::filesystem::path& run, const WatchOptions& options, std::vector<WatchRule> rules) {
  return std::jthread([run, options, rules = std::move(rules)]() mutable {
    const auto trial = required(Trial::open(run));
    const auto watch = required(Watch::start(*trial, std::move(rules), options));
    while (!watch->run_ended()) {
      (void)watch->poll();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    watch->finish();
  });
}

std::vector<WatchRule> watch_rules(const std::vector<RuleSpec>& specs) {
  std::vector<WatchRule> rules;
  for (const RuleSpec& spec : specs) rules.push_back({spec, required(create_rule(spec))});
  return rules;
}

std::vector<double> latencies_beside(int steps) {
  const TemporaryFolder folder;
  HookOptions options = statistics_of_everything();
  options.run_dir = folder.path() / "run";
  const auto hook = required(Hook::open(options));
  Training training(*hook);
  Instants ended;
  Instants verdicts;
  std::vector<WatchRule> rules = watch_rules(default_rules());
  rules.push_back({{"Metronome", {}}, std::make_unique<Metronome>()});
  WatchOptions watch;
  watch.keep_going = true;
  watch.on_verdict = [&](const WatchVerdict& verdict) {
    if (verdict.rule_id == "Metronome") verdicts.note(verdict.global_step);
  };
  const std::jthread judge = judge_beside(options.run_dir, watch, std::move(rules));
  for (int step = 0; step < steps; ++step) {
    training.forward_and_backward();
    training.optimizer_steps();
    hook->end_step();
    ended.note(step);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  must(hook->close());
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  std::vector<double> latencies;
  const auto ends = ended.all();
  for (const auto& [step, instant] : verdicts.all()) latencies.push_back(Milliseconds(instant - ends.at(step)).count());
  return latencies;
}

Result<std::vector<Figure>> beside() {
  constexpr int kRounds = 3;
  std::vector<double> p99, median;
  for (int round = 0; round < kRounds; ++round) {
    const std::vector<double> latencies = latencies_beside(200);
    p99.push_back(percentile_99(latencies));
    median.push_back(spread_of(latencies).median);
  }
  return std::vector<Figure>{
      {"rules.beside_p99_ms", spread_of(p99), "ms", at_most(20),
       fmt::format("from the return of end_step() to a verdict in the journal; {} rules over 1,000 tensors",
                   default_rules().size())},
      {"rules.beside_p99_ms.median", spread_of(median), "ms", {}, "the same, the step in the middle"}};
}

// --- rules.stop_steps -----------------------------------------------------------------------------------------------

class FiresAt final : public Rule {
 public:
  explicit FiresAt(std::int64_t step) : step_(step) {}
  Verdict evaluate(const StepWindow& window) override {
    if (window.global_step() < step_) return Verdict::ok();
    return {Outcome::kFired, Severity::kError, "now", "", {}};
  }

 private:
  const std::int64_t step_;
};

// Steps that the training made after the one that was judged, until it was asked to stop.
double steps_until_stopped() {
  constexpr std::int64_t kFires = 20;
  const TemporaryFolder folder;
  HookOptions options = statistics_of_everything();
  options.run_dir = folder.path() / "run";
  const auto hook = required(Hook::open(options));
  Training training(*hook);
  std::vector<WatchRule> rules;
  rules.push_back({{"FiresAt", {}}, std::make_unique<FiresAt>(kFires)});
  WatchOptions watch;
  watch.stop_on_fire = true;
  const std::jthread judge = judge_beside(options.run_dir, watch, std::move(rules));
  StepEnd end;
  while (!end.stop_requested && end.global_step < 1000) {
    const auto begin = WallClock::now();
    training.forward_and_backward();
    training.optimizer_steps();
    std::this_thread::sleep_until(begin + std::chrono::milliseconds(10));
    end = hook->end_step();
  }
  must(hook->close());
  return static_cast<double>(end.global_step - kFires);
}

Result<std::vector<Figure>> stop_steps() {
  std::vector<double> steps;
  for (int round = 0; round < 15; ++round) steps.push_back(steps_until_stopped());
  const double most = *std::max_element(steps.begin(), steps.end());
  return std::vector<Figure>{
      {"rules.stop_steps",
       {most, most, most},
       "steps",
       at_most(2.99),
       "steps of 10 ms after the one that was judged beside the training, the most of 15 runs; inside it is none"},
      {"rules.stop_steps.median", spread_of(steps), "steps", {}, "the same, the run in the middle"}};
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"rules.in_process_p99_ms", in_process},
          {"rules.beside_p99_ms", beside},
          {"rules.stop_steps", stop_steps},
          {"rules.check_vs_disk", check_vs_disk},
          {"rules.check_vs_read", check_vs_read}};
}

}  // namespace trainwarden::bench
