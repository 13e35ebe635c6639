// SlowStart: much of the run was over before the first train step had ended.
//
// Source: ours, after the rule MaxInitializationTime of SageMaker Debugger, which has an absolute limit only. How much
// a start costs depends on how long the training goes on: it is judged when the run has ended, with the last step, or
// with the last samples of the machine, which come behind it.
//
// State: the times of the start, and sums of phases (PhaseShares).
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace slow_start_rule {
namespace {

constexpr std::int64_t kWindowNs = 5'000'000'000;
constexpr std::string_view kStart = "trainwarden/start_seconds";
constexpr std::string_view kImports = "trainwarden/start/imports_seconds";
constexpr std::string_view kBuilding = "trainwarden/start/building_seconds";
constexpr std::string_view kFirstStep = "trainwarden/start/first_step_seconds";
constexpr const char* kBuildingAdvice =
    "Prepare data once and keep it (a cache, memory-mapped files), load it lazily or beside the training; "
    "trainwarden/start/building_seconds falls.";
constexpr const char* kFirstStepAdvice =
    "Look at what the first step does once: compiling, choosing algorithms, filling the loader's workers; keep "
    "compiled code in a cache. trainwarden/start/first_step_seconds falls.";
constexpr const char* kImportsAdvice =
    "Import less before training begins, and from a local disk (`python -X importtime` lists what takes long); "
    "trainwarden/start/imports_seconds falls.";

struct StartParts {
  double imports = 0;
  double building = 0;
  double first_step = 0;
  double total() const { return imports + building + first_step; }
};

class SlowStart final : public Rule {
 public:
  SlowStart(double threshold, double min_seconds, double usual_imports)
      : threshold_(threshold), min_seconds_(min_seconds), usual_imports_(usual_imports) {}

  Verdict evaluate(const StepWindow& window) override {
    read_start(window);
    const bool has_phases = shares_.take(window);
    for (const auto& [worker, step] : shares_.newest()) {
      if (step.start_seconds && start_.first_step == 0) start_.first_step = *step.start_seconds;
    }
    if (start_.total() <= 0) {
      return Verdict::not_applicable("the run does not say how long its start took");
    }
    if (!has_phases || shares_.steps() < 1) return Verdict::insufficient_data("no train step after the first is known");
    return judge(window.trial(), window.global_step());
  }

  std::optional<TimeSchedule> schedule() const override {
    return TimeSchedule{{{"^tree\\.processes$"}, {MetricSource::kHost}}, kWindowNs, kWindowNs};
  }

  Verdict evaluate_time(const TimeWindow& window) override {
    if (start_.total() <= 0 || shares_.steps() < 1) {
      return Verdict::insufficient_data("no train step after the first is known");
    }
    return judge(&window.trial, window.last_step);
  }

  std::vector<Collection> needs() const override { return {need_signals(), need_values("scalars", 1)}; }

 private:
  static double longest(const StepWindow& window, std::string_view signal) {
    double longest = 0;
    for (const auto& found : scalar_signals(window, signal).signals) longest = std::max(longest, found.value);
    return longest;
  }

  // Of the worker that took longest; it is said once.
  void read_start(const StepWindow& window) {
    if (is_known_) return;
    const double first_step = longest(window, kFirstStep);
    if (!(first_step > 0)) return;
    start_ = {longest(window, kImports), longest(window, kBuilding), first_step};
    if (!(start_.imports > 0)) start_.imports = std::max(0.0, longest(window, kStart) - start_.total());
    is_known_ = true;
  }

  Verdict judge(const Trial* trial, std::int64_t step) const {
    if (trial == nullptr || trial->state() == RunState::kRunning || step < trial->last_complete_step()) {
      return Verdict::insufficient_data("what the start costs is known when the run has ended");
    }
    const double a_step = shares_.seconds() / std::max(1.0, shares_.steps());
    // What cannot go: usual imports, and a step.
    const double imports = std::max(0.0, start_.imports - usual_imports_);
    const double first_step = std::max(0.0, start_.first_step - a_step);
    const double removable = imports + start_.building + first_step;
    const double all = start_.total() + shares_.seconds();
    const double share = removable / all;
    if (removable < min_seconds_ || share < threshold_) return Verdict::ok();
    const Cost cost = cost_of({share, share, share}, {0.9, 0.5, 1});
    std::string message = fmt::format(
        "{} of the run, {:.3g} %, were over when the first train step had ended (imports {}, building {}, first step "
        "{}). With a tenth left of what can go, the run is {}.",
        seconds_text(start_.total()), 100 * start_.total() / all, seconds_text(start_.imports),
        seconds_text(start_.building), seconds_text(start_.first_step), gain_text(cost));
    const auto own = [&](const char* quantity, double value, double threshold) {
      return Evidence{"", "", quantity, value, threshold, step};
    };
    const char* const advice = start_.building >= std::max(imports, first_step)
                                   ? kBuildingAdvice
                                   : (first_step >= imports ? kFirstStepAdvice : kImportsAdvice);
    return finding(std::move(message), advice, cost,
                   {own("start_share", share, threshold_), own("start_seconds", removable, min_seconds_),
                    own("imports_seconds", start_.imports, usual_imports_), own("building_seconds", start_.building, 0),
                    own("first_step_seconds", start_.first_step, 0)},
                   step);
  }

  const double threshold_;
  const double min_seconds_;
  const double usual_imports_;
  bool is_known_ = false;
  StartParts start_;
  PhaseShares shares_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0, 1);
  const double min_seconds = read.number("min_seconds", 0);
  const double usual_imports = read.number("usual_imports_seconds", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new SlowStart(threshold, min_seconds, usual_imports));
}

}  // namespace
}  // namespace slow_start_rule

RuleKind slow_start() {
  return {
      {.name = "SlowStart",
       .summary = "Fires when much of the run is over before the first train step has ended.",
       .parameters = {{"threshold", "0.2", "part of the run that is put up with, from 0 to 1"},
                      {"min_seconds", "5", "a shorter start is put up with, in seconds"},
                      {"usual_imports_seconds", "15", "what imports may take, in seconds"}},
       .topic = "profiling",
       .details =
           "Fires when the time until the first train step has ended, without a usual step and without "
           "`usual_imports_seconds` of imports, is at least `min_seconds`, and at least `threshold` of the time from "
           "the start of the process to the end of the last step. It is judged when the run has ended, since what a "
           "start costs depends on how long the training goes on.\n\n"
           "Predicted gain, of the run's whole time: with a tenth of what can go left. Bounds: with a half of it, and "
           "without it.\n\n"
           "Needs the phases of train steps and the signals of the start (`trainwarden/start_seconds`, `start/...`), "
           "else only the first step's time since a model was first called (`phase/start`) is known. Evidence: "
           "`step_share`, `gain`, `gain_min`, `gain_max` (of the run's time), `start_share`, `start_seconds`, "
           "`imports_seconds`, `building_seconds`, `first_step_seconds`.",
       .source = "ours, after MaxInitializationTime of SageMaker Debugger",
       .profiles = true},
      slow_start_rule::create};
}

}  // namespace trainwarden::rules
