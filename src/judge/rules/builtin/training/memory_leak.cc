// MemoryLeak: the memory of the training process, or what the framework holds on the accelerator, grows without end.
//
// Source: growth by at least so many bytes and so many percent without a pull-back, as TraceML gates its finding of
// creeping memory; the slope is Theil and Sen's. Ours: growth that levels off (a cache, the allocator) is no leak, so
// the second half must grow at least half as fast as the whole; only train steps are looked at, since evaluation has a
// footprint of its own; and during the first epoch of a data loader, when data sets that keep their samples in memory
// fill up, it is a note.
//
// What a leak costs in time is seen where steps become longer meanwhile, as when all that was kept is gone through
// again (StepSlowdown).
//
// State: for each worker and kind of memory, at most 256 points; of step times at most 64 medians.
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/training/memory_series.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/step_slowdown.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace memory_leak_rule {
namespace {

constexpr double kMiB = 1024.0 * 1024.0;
constexpr std::int64_t kMostSteps = 1'000'000'000;
constexpr auto kFewestSteps = static_cast<std::int64_t>(MemorySeries::kFewestPoints);
constexpr const char* kAdvice =
    "Look for what keeps tensors alive from step to step: losses added up without .item() or .detach(), lists of "
    "outputs, hooks; when the program fills a buffer on purpose, mute the rule.";

std::string bytes_text(double bytes) {
  return format_bytes(static_cast<std::uint64_t>(std::max(bytes, 0.0)));
}

class MemoryLeak final : public Rule {
 public:
  MemoryLeak(const GrowthLimits& limits, std::int64_t warm_up_steps) : limits_(limits), warm_up_steps_(warm_up_steps) {}

  Verdict evaluate(const StepWindow& window) override {
    if (window.mode() != Mode::kTrain && window.mode() != Mode::kGlobal) {
      return Verdict::not_applicable(fmt::format("{} is no train step", describe_step(window)));
    }
    take_step_times(window);
    JudgingGaps gaps;
    std::size_t seen = 0;
    std::size_t judged = 0;
    std::vector<Leak> leaks;
    for (const std::string_view memory : {signals::kHostBytes, signals::kDeviceBytes}) {
      const auto found = scalar_signals(window, memory);
      if (gaps.first_damage.ok()) gaps.first_damage = found.gaps.first_damage;
      for (const auto& [spot, bytes] : found.signals) {
        ++seen;
        if (judge_series(spot, bytes, window, leaks)) ++judged;
      }
    }
    if (seen == 0) return nothing_to_judge(gaps, "signal trainwarden/memory", window);
    if (judged == 0) return Verdict::insufficient_data(few_points(window));
    if (leaks.empty()) return Verdict::ok();
    return verdict(leaks, window);
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }

 private:
  static constexpr std::int64_t kSettled = 20;  // first steps, whose times say little

  // Of all steps where they are known: those that are written lie close together at first, when steps are short.
  void take_step_times(const StepWindow& window) {
    const auto times = list_signals(window, signals::kStepTimes).signals;
    if (!times.empty()) {
      has_all_times_ = true;
      for (const double seconds : times.front().value) take_step_time(seconds);
    }
    if (has_all_times_) return;
    const auto seconds = scalar_signals(window, signals::kStepSeconds).signals;
    if (!seconds.empty()) take_step_time(seconds.front().value);
  }
  void take_step_time(double seconds) {
    if (train_steps_++ >= kSettled) slowdown_.add(seconds);
  }

  struct State {
    std::int64_t first_step = 0;  // of the mode
    std::int64_t points = 0;      // since it was warm
    MemorySeries series;
  };
  struct Leak {
    TensorSpot spot;
    Growth growth;
  };

  // False when there are too few points to know.
  bool judge_series(const TensorSpot& spot, double bytes, const StepWindow& window, std::vector<Leak>& leaks) {
    if (!std::isfinite(bytes)) return false;
    const State fresh{window.mode_step(), 0, MemorySeries(limits_)};
    State& state = states_.try_emplace({spot.tensor, spot.worker}, fresh).first->second;
    if (window.mode_step() - state.first_step < warm_up_steps_) return false;
    state.series.add(window.global_step(), bytes);
    if (++state.points < kFewestSteps) return false;
    const auto growth = state.series.growth();
    if (growth) leaks.push_back({spot, *growth});
    return true;
  }

  std::string few_points(const StepWindow& window) const {
    return fmt::format("{} saved train steps are waited for, after {} of warm-up; this is {}", kFewestSteps,
                       warm_up_steps_, describe_step(window));
  }

  static bool in_first_epoch(const StepWindow& window) {
    const auto epochs = scalar_signals(window, signals::kEpoch).signals;
    return std::any_of(epochs.begin(), epochs.end(), [](const auto& epoch) { return epoch.value == 0; });
  }

  Verdict verdict(const std::vector<Leak>& leaks, const StepWindow& window) const {
    const auto& [spot, growth] = leaks.front();
    const bool filling = in_first_epoch(window);
    std::string message = fmt::format(
        "The memory of {} has grown by {} ({:.3g} %) from step {} to {} and goes on, by {} a step.{}",
        spot.tensor == signals::kDeviceBytes ? "the accelerator" : "the training process", bytes_text(growth.bytes),
        100 * growth.share, growth.first_step, describe_step(window), bytes_text(growth.bytes_per_step),
        filling ? " It is the first epoch: a data set that keeps its samples would do the same." : "");
    const Severity severity = filling ? Severity::kInfo : Severity::kWarning;
    const auto cost = slowdown_.cost();
    if (cost)
      message += fmt::format(" Steps became longer meanwhile: with all as long as at first, training is {}.",
                             gain_text(*cost));
    Verdict verdict =
        cost ? finding(std::move(message), kAdvice, *cost, evidence_of(leaks, window), window.global_step(), severity)
             : fired(std::move(message), kAdvice, evidence_of(leaks, window), severity);
    verdict.confidence = filling ? 0.4 : 0.8;
    return verdict;
  }

  std::vector<Evidence> evidence_of(const std::vector<Leak>& leaks, const StepWindow& window) const {
    std::vector<Evidence> evidence;
    for (const auto& [spot, growth] : leaks) {
      const auto add = [&, &place = spot](const char* quantity, double value, double threshold) {
        evidence.push_back({place.tensor, place.shown_worker, quantity, value, threshold, window.global_step()});
      };
      add("growth_bytes", growth.bytes, limits_.least_bytes);
      add("growth_percent", 100 * growth.share, 100 * limits_.least_share);
      add("bytes_per_step", growth.bytes_per_step, 0);
    }
    return evidence;
  }

  const GrowthLimits limits_;
  const std::int64_t warm_up_steps_;
  std::int64_t train_steps_ = 0;  // whose times were seen
  bool has_all_times_ = false;
  StepSlowdown slowdown_;
  std::map<std::pair<std::string, std::string>, State> states_;  // by signal and worker
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  GrowthLimits limits;
  limits.least_bytes = kMiB * read.number("growth_mib", 0);
  limits.least_share = read.number("growth_percent", 0) / 100;
  limits.most_pull_back = read.number("pull_back_percent", 0, 100) / 100;
  const std::int64_t warm_up = read.integer("warm_up_steps", 0, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new MemoryLeak(limits, warm_up));
}

}  // namespace
}  // namespace memory_leak_rule

RuleKind memory_leak() {
  return {
      {.name = "MemoryLeak",
       .summary = "Fires when the memory of the training grows from step to step and does not level off.",
       .parameters = {{"growth_mib", "512", "growth that is put up with, in MiB"},
                      {"growth_percent", "6", "growth that is put up with, in percent of the memory at its begin"},
                      {"pull_back_percent", "2", "a fall by more than this many percent begins the count anew"},
                      {"warm_up_steps", "100", "first train steps that do not count, saved or not"}},
       .topic = "training",
       .details =
           "Fires when the memory of the training process (`trainwarden/memory/host_bytes`), or what the framework has "
           "handed out on the accelerator (`trainwarden/memory/device_bytes`), has grown past both limits without "
           "falling in between, and grows in the second half of that time at least half as fast as in the whole. Only "
           "train steps count. During the first epoch of a data loader it is a note, since data sets may keep their "
           "samples.\n\n"
           "Needs the signals. A buffer that is filled on purpose (experience replay, a history of everything) looks "
           "the same: mute the rule, or raise `growth_mib`. A leak in another process, as a worker of the data loader, "
           "is not seen.\n\n"
           "Predicted gain, where steps have become a fifth longer meanwhile: all as long as the 21st was, against the "
           "mean, when they become longer evenly (Theil's and Sen's line), else as long as in the fastest stretch of "
           "32 and more; bounds: half of what the fastest stretch tells, and against the last stretch. Evidence: "
           "`growth_bytes`, `growth_percent`, `bytes_per_step`; with a gain `step_share`, `gain`, `gain_min`, "
           "`gain_max` before them.",
       .source = "gates as in TraceML; Theil (1950) and Sen (1968) for the slope; the levelling off is ours",
       .by_default = true,
       .profiles = true,
       .in_process = true},
      memory_leak_rule::create};
}

}  // namespace trainwarden::rules
