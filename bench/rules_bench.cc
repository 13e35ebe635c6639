// What judging costs: inside the training, beside it, and later over recorded runs; with all rules that come by default
// and 1,000 tensors in each step.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "bench.h"
#include "rules/engine.h"
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

constexpr int kLayers = 100;  // of ten tensors each

// A benchmark that cannot do its work has no figure.
template <class T>
T required(Result<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().to_string());
  return std::move(result).value();
}
void must(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.to_string());
}

double thread_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double percentile_99(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples.at(samples.size() * 99 / 100);
}

// A healthy training of 1,000 tensors: what it computes is noise that changes from step to step.
class Training {
 public:
  explicit Training(Hook& hook, std::size_t elements = 64) : hook_(hook), noise_(elements + 1024) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0f, 1.0f);
    for (float& value : noise_) value = normal(random);
    for (int layer = 0; layer < kLayers; ++layer) {
      for (const char* part : {"weight", "bias", "norm.weight"}) {
        const std::string name = fmt::format("encoder.layer.{}.attention.{}", layer, part);
        declare(name, "weights");
        declare("gradient/" + name, "gradients");
      }
      for (int call = 0; call < 4; ++call) declare(fmt::format("encoder.layer.{}_output_{}", layer, call), "outputs");
    }
    elements_ = elements;
    hook_.set_mode(Mode::kTrain);
  }

  // Everything but the weights, which come when the optimizer has stepped.
  void forward_and_backward() {
    ++step_;
    const float loss = 2.0f / (1.0f + 0.01f * static_cast<float>(step_)) + 0.01f * noise_[step_ % 64];
    constexpr std::string_view kLosses[] = {"losses"};
    hook_.save_tensor(hook_.declare("CrossEntropyLoss_output_0", kLosses),
                      TensorView::of(&loss, DType::kFloat32, Shape({1})));
    save("outputs");
    save("gradients");
  }
  void optimizer_steps() { save("weights"); }

 private:
  void declare(const std::string& name, const char* collection) {
    const std::string_view collections[] = {collection};
    ids_[collection].push_back(hook_.declare(name, collections));
  }
  void save(const char* collection) {
    std::size_t place = step_;
    for (const TensorId id : ids_[collection]) {
      hook_.save_tensor(id, TensorView::of(noise_.data() + (place++ * 7 + step_ * 13) % 1024, DType::kFloat32,
                                           Shape({static_cast<std::int64_t>(elements_)})));
    }
  }

  Hook& hook_;
  std::vector<float> noise_;
  std::size_t elements_ = 0;
  std::size_t step_ = 0;
  std::map<std::string, std::vector<TensorId>> ids_;
};

HookOptions statistics_of_everything() {
  HookOptions options;
  options.include_collections = {"losses", "weights", "gradients", "outputs"};
  options.save = SavePolicy::every(1);
  options.keep = KeepForm::reduced();
  options.when_full = WhenFull::kBlock;
  return options;
}

std::vector<RuleSpec> default_rules() {
  std::vector<RuleSpec> specs;
  for (const RuleKind& kind : builtin_rules()) {
    if (kind.description.by_default) specs.push_back({kind.description.name, {}});
  }
  return specs;
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

// Fires at every second step, so that a verdict is told each time.
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
  Instants told;
  std::vector<WatchRule> rules = watch_rules(default_rules());
  rules.push_back({{"Metronome", {}}, std::make_unique<Metronome>()});
  WatchOptions watch;
  watch.keep_going = true;
  watch.on_verdict = [&](const WatchVerdict& verdict) {
    if (verdict.rule_id == "Metronome") told.note(verdict.global_step);
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
  for (const auto& [step, instant] : told.all()) latencies.push_back(Milliseconds(instant - ends.at(step)).count());
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

// Steps that the training made after the one that was judged, until it was told to stop.
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

// --- rules.check_vs_read --------------------------------------------------------------------------------------------

void record(const std::filesystem::path& run, HookOptions options, std::size_t elements, int steps) {
  options.run_dir = run;
  const auto hook = required(Hook::open(options));
  Training training(*hook, elements);
  for (int step = 0; step < steps; ++step) {
    training.forward_and_backward();
    training.optimizer_steps();
    hook->end_step();
  }
  must(hook->close());
}

std::size_t read_all(const std::filesystem::path& run) {
  std::size_t sum = 0;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (const auto& file : std::filesystem::recursive_directory_iterator(run)) {
    if (!file.is_regular_file()) continue;
    std::ifstream stream(file.path(), std::ios::binary);
    stream.rdbuf()->pubsetbuf(nullptr, 0);
    while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || stream.gcount() > 0) {
      sum += static_cast<std::size_t>(stream.gcount());
    }
  }
  return sum;
}

void check(const std::filesystem::path& run, const std::vector<RuleSpec>& specs) {
  const auto trial = required(Trial::open(run));
  rules::Engine engine(*trial, required(rules::create_engine_rules(specs)), {.keep_going = true});
  must(engine.run_until_end({}));
}

Result<Figure> check_vs_read_of(std::string name, const HookOptions& options, std::size_t elements, int steps,
                                std::string limit) {
  const TemporaryFolder folder;
  const std::filesystem::path run = folder.path() / "run";
  record(run, options, elements, steps);
  const std::size_t bytes = read_all(run);
  const std::vector<RuleSpec> rules = default_rules();
  const std::function<void()> arms[] = {[&] { keep(read_all(run)); }, [&] { check(run, rules); }};
  const PairedRuns runs = run_interleaved(5, arms);
  const double seconds = runs.ns(1).median / 1e9;
  return Figure{std::move(name), runs.ratio(0, 1), "ratio", at_least(0.7),
                fmt::format("{}; {:.0f} MB at {:.0f} MB/s", limit, static_cast<double>(bytes) / 1e6,
                            static_cast<double>(bytes) / 1e6 / seconds)};
}

Result<std::vector<Figure>> check_vs_read() {
  HookOptions whole = statistics_of_everything();
  whole.keep = KeepForm::whole();
  std::vector<Figure> figures;
  TRAINWARDEN_ASSIGN_OR_RETURN(Figure values,
                               check_vs_read_of("rules.check_vs_read", whole, std::size_t{64} << 10, 3,
                                                "values: checking each payload and one pass over it, on one core"));
  figures.push_back(std::move(values));
  TRAINWARDEN_ASSIGN_OR_RETURN(Figure statistics,
                               check_vs_read_of("rules.check_vs_read.statistics", statistics_of_everything(), 64, 100,
                                                "statistics: some hundred bytes a tensor, which each rule looks at"));
  figures.push_back(std::move(statistics));
  return figures;
}

}  // namespace

std::vector<Benchmark> benchmarks() {
  return {{"rules.in_process_p99_ms", in_process},
          {"rules.beside_p99_ms", beside},
          {"rules.stop_steps", stop_steps},
          {"rules.check_vs_read", check_vs_read}};
}

}  // namespace trainwarden::bench
