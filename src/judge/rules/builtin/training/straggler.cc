// Straggler: one worker for which the others wait, step after step.
//
// Source: in synchronous training every worker's step takes as long as that of the slowest, and the culprit is the one
// that waits least since it arrives last: score = (the others' wait − its own) / step, as TraceML and HTA define it.
// Of our phases the backward pass and gradient_sync hold the wait, so a worker's own time is the rest of its step, and
// where steps take equally long the difference in waiting is the difference in own time.
// Ours: where workers do not wait for each other (their steps take unequally long) the step itself is compared; medians
// over `window` steps, the same worker last in four steps of five, and a least number of seconds, so that noise does
// not fire. Workers with different models (pipelines, actors and learners) have different work and are not judged.
//
// State: for each worker, `window` pairs of times, and the model that it said it has.
#include <algorithm>
#include <cmath>
#include <deque>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/builtin/training/step_workers.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/builtin/training/worker_models.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace straggler_rule {
namespace {

constexpr std::int64_t kMostSteps = 10'000;
constexpr double kLastShare = 0.8;     // of the steps of the window, in which it must be the same worker
constexpr double kSameShare = 0.1;     // steps that differ by less take equally long
constexpr double kCauseShare = 0.8;    // of the delay: a phase with that much is named
constexpr double kLeastOfDelay = 0.7;  // of the delay goes at the least: others are late now and then too
constexpr std::string_view kPrefix = "phase/";
constexpr std::string_view kWhole = "step";
// In which workers wait for each other.
constexpr std::string_view kShared[] = {"backward", "gradient_sync"};
// A worker's own: one of them may be the cause.
constexpr std::string_view kOwn[] = {"data_wait", "data_start", "forward",    "loss",    "clip", "optimizer",
                                     "zero_grad", "evaluation", "checkpoint", "capture", "rest"};
constexpr std::size_t kOwnCount = std::size(kOwn);
constexpr const char* kAdvice =
    "Compare this worker's host with the others (load, clock, input files, what only it does, as logging or "
    "checkpoints); trainwarden/step_seconds of all workers falls when it no longer lags.";

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// One step of one worker, in seconds.
struct WorkerTimes {
  double step = 0;
  double shared = 0;
  double whole = 0;  // what the phases sum to; 0: they are not known
  double phases[kOwnCount] = {};
  double own() const { return std::max(0.0, whole - shared); }

  void take(std::string_view phase, double seconds) {
    if (phase == kWhole) whole = seconds;
    if (std::find(std::begin(kShared), std::end(kShared), phase) != std::end(kShared)) shared += seconds;
    const auto own = std::find(std::begin(kOwn), std::end(kOwn), phase);
    if (own != std::end(kOwn)) phases[own - std::begin(kOwn)] = seconds;
  }
};

class Straggler final : public Rule {
 public:
  Straggler(double threshold, double min_seconds, std::int64_t window)
      : threshold_(threshold), min_seconds_(min_seconds), window_(static_cast<std::size_t>(window)) {}

  Verdict evaluate(const StepWindow& window) override {
    const std::vector<std::string> workers = workers_of_step(window);
    if (workers.size() < 2) return Verdict::not_applicable("a run of one worker has no straggler");
    models_.take(window);
    if (models_.differ()) return Verdict::not_applicable("the workers have different models, and so different work");
    if (window.mode() == Mode::kEval || window.mode() == Mode::kPredict) {
      return Verdict::not_applicable(fmt::format("{} is no train step", describe_step(window)));
    }
    const auto times = read_times(window);
    if (times.size() < workers.size()) {
      return Verdict::not_applicable(fmt::format("trainwarden/step_seconds is there for {} of {} workers at {}",
                                                 times.size(), workers.size(), describe_step(window)));
    }
    remember(times);
    if (history_.begin()->second.size() < window_) {
      return Verdict::insufficient_data(
          fmt::format("{} of {} steps with the times of all workers", history_.begin()->second.size(), window_));
    }
    return judge(window);
  }

  std::vector<Collection> needs() const override { return {need_signals(), need_values("scalars", 1)}; }

 private:
  using ByWorker = std::map<std::string, double>;

  static std::map<std::string, WorkerTimes> read_times(const StepWindow& window) {
    std::map<std::string, WorkerTimes> times;
    const auto step_seconds = scalar_signals(window, signals::kStepSeconds);
    for (const auto& [spot, seconds] : step_seconds.signals) {
      if (seconds > 0) times[spot.worker].step = seconds;
    }
    (void)visit_tensors({.collections = {"scalars"}}, window, [&](const TensorSpot& spot) -> Status {
      const auto worker = times.find(spot.worker);
      const std::string_view name = spot.tensor;
      if (worker == times.end() || name.substr(0, kPrefix.size()) != kPrefix) return {};
      TRAINWARDEN_ASSIGN_OR_RETURN(const double seconds, window.scalar(spot));
      worker->second.take(name.substr(kPrefix.size()), seconds);
      return {};
    });
    return times;
  }

  void remember(const std::map<std::string, WorkerTimes>& times) {
    if (history_.size() != times.size()) history_.clear();
    for (const auto& [worker, of_step] : times) {
      auto& remembered = history_[worker];
      remembered.push_back(of_step);
      if (remembered.size() > window_) remembered.pop_front();
    }
  }

  // Of each worker the median over the window of what `time` (WorkerTimes → seconds) picks.
  template <class Time>
  ByWorker medians(Time time) const {
    ByWorker medians;
    for (const auto& [worker, remembered] : history_) {
      std::vector<double> seconds;
      for (const WorkerTimes& times : remembered) seconds.push_back(time(times));
      medians[worker] = median(std::move(seconds));
    }
    return medians;
  }

  static std::string slowest(const ByWorker& seconds) {
    return std::max_element(seconds.begin(), seconds.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  // What the worker takes more than the others' (lower) median.
  static double excess(const ByWorker& seconds, const std::string& culprit) {
    std::vector<double> others;
    for (const auto& [worker, of_worker] : seconds) {
      if (worker != culprit) others.push_back(of_worker);
    }
    std::sort(others.begin(), others.end());
    return seconds.at(culprit) - others[(others.size() - 1) / 2];
  }

  // In how many of the remembered steps it was the slowest, as a share.
  template <class Time>
  double share_last(const std::string& culprit, Time time) const {
    std::size_t last = 0;
    for (std::size_t i = 0; i < window_; ++i) {
      const double own = time(history_.at(culprit)[i]);
      last += std::all_of(history_.begin(), history_.end(),
                          [&](const auto& worker) { return worker.first == culprit || time(worker.second[i]) < own; });
    }
    return static_cast<double>(last) / static_cast<double>(window_);
  }

  Verdict judge(const StepWindow& window) const {
    const ByWorker steps = medians([](const WorkerTimes& times) { return times.step; });
    const std::string longest = slowest(steps);
    if (excess(steps, longest) <= kSameShare * steps.at(longest)) {
      return judge(window, steps, [](const WorkerTimes& times) { return times.own(); });
    }
    return judge(window, steps, [](const WorkerTimes& times) { return times.step; });
  }

  template <class Time>
  Verdict judge(const StepWindow& window, const ByWorker& steps, Time time) const {
    const ByWorker seconds = medians(time);
    const std::string culprit = slowest(seconds);
    const double delay = excess(seconds, culprit);
    const double score = delay / steps.at(culprit);
    if (!(score > threshold_) || !(delay > min_seconds_) || share_last(culprit, time) < kLastShare) {
      return Verdict::ok();
    }
    std::string message = fmt::format(
        "{} keeps the others waiting: over {} steps up to {} it took {} more of its own time for a step, {:.2g} % of "
        "the step{}.",
        culprit, window_, describe_step(window), format_duration_ns(static_cast<std::int64_t>(delay * 1e9)),
        100 * score, cause(culprit, delay));
    const Cost cost = cost_of({score, kLeastOfDelay * score, score});
    message += fmt::format(" Without that, training is {}.", gain_text(cost));
    return finding(std::move(message), kAdvice, cost,
                   {{"trainwarden/step_seconds", culprit, "late_share", score, threshold_, window.global_step()},
                    {"trainwarden/step_seconds", culprit, "late_seconds", delay, min_seconds_, window.global_step()}},
                   window.global_step());
  }

  std::string cause(const std::string& culprit, double delay) const {
    for (std::size_t i = 0; i < kOwnCount; ++i) {
      const double of_phase = excess(medians([i](const WorkerTimes& times) { return times.phases[i]; }), culprit);
      if (of_phase >= kCauseShare * delay) return fmt::format(", nearly all of it in the phase \"{}\"", kOwn[i]);
    }
    return "";
  }

  const double threshold_;
  const double min_seconds_;
  const std::size_t window_;
  WorkerModels models_;
  std::map<std::string, std::deque<WorkerTimes>> history_;  // by worker, all of the same length
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0, 1);
  const double min_seconds = read.number("min_seconds", 0);
  const std::int64_t window = read.integer("window", 2, kMostSteps);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new Straggler(threshold, min_seconds, window));
}

}  // namespace
}  // namespace straggler_rule

RuleKind straggler() {
  return {{.name = "Straggler",
           .summary = "Fires when the other workers wait for one of them, step after step.",
           .parameters = {{"threshold", "0.2", "part of the step for which the others wait, from 0 to 1"},
                          {"min_seconds", "0.005", "a shorter wait is put up with, in seconds a step"},
                          {"window", "50", "train steps over which medians are taken"}},
           .topic = "workers",
           .details =
               "Compares the workers' own time in a step: all of it but the backward pass and the synchronising of "
               "gradients, in which they wait for each other. Fires when one worker's median over the window is above "
               "that of the others by more than `threshold` of the step and by `min_seconds`, and it was the last in "
               "four steps of five. Where the workers' steps take unequally long they do not wait for each other, and "
               "the whole steps are compared.\n\n"
               "Needs `trainwarden/step_seconds` and the phases of a step (`phase/step`, `phase/backward`, "
               "`phase/gradient_sync`) of all workers. Workers with different models have different work and are not "
               "judged. On an accelerator the phases are the host's times: a slow device that the host does not wait "
               "for is not seen.\n\n"
               "Predicted gain: steps without the delay; bound below: without seven tenths of it. Evidence: "
               "`step_share`, `gain`, `gain_min`, `gain_max`, `late_share`, `late_seconds`.",
           .source = "the rank that arrives last, as in TraceML and HTA; the window and the least wait are ours",
           .by_default = true,
           .profiles = true,
           .in_process = false},
          straggler_rule::create};
}

}  // namespace trainwarden::rules
