// MaxInitializationTime: the first train step took too long to come.
//
// Source: SageMaker Debugger's rule of this name: no step after `threshold` minutes. Ours: it also says, when the step
// has come, how long it took and what that was made of.
//
// State: whether a step has ended.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/needs.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/timeline/clock_schedule.h"

namespace trainwarden::rules {
namespace max_initialization_time_rule {
namespace {

constexpr std::string_view kStart = "trainwarden/start_seconds";
constexpr const char* kAdvice =
    "Look at what runs before training (`py-spy dump`, the program's log): data that is prepared each time, downloads, "
    "a worker that waits for another; the first step comes earlier.";

constexpr int kMostLooks = 8;  // at steps that do not say when they ended

class MaxInitializationTime final : public Rule {
 public:
  explicit MaxInitializationTime(double threshold_minutes) : threshold_minutes_(threshold_minutes) {}

  Verdict evaluate(const StepWindow& window) override {
    if (is_decided_) return Verdict::ok();
    if (looks_ == kMostLooks) return Verdict::not_applicable("the run does not say when its first step ended");
    ++looks_;
    double seconds = 0;
    for (const auto& found : scalar_signals(window, kStart).signals) seconds = std::max(seconds, found.value);
    if (!(seconds > 0)) seconds = since_created(window);
    if (!(seconds > 0)) return Verdict::not_applicable("the run does not say when its first step ended");
    is_decided_ = true;
    if (seconds <= 60 * threshold_minutes_) return Verdict::ok();
    return verdict(fmt::format("The first step had ended after {}", seconds_text(seconds)), seconds,
                   window.global_step());
  }

  std::vector<Collection> needs() const override { return {need_signals()}; }
  std::optional<TimeSchedule> schedule() const override { return by_the_clock(); }

  Verdict evaluate_time(const TimeWindow& window) override {
    if (window.last_step >= 0 || is_decided_) return Verdict::ok();
    const double seconds = static_cast<double>(window.to_unix_ns - window.last_step_unix_ns) / 1e9;
    if (seconds <= 60 * threshold_minutes_) return Verdict::ok();
    return verdict(fmt::format("No step has come for {}", seconds_text(seconds)), seconds, -1);
  }

 private:
  static double since_created(const StepWindow& window) {
    if (window.trial() == nullptr) return 0;
    std::int64_t last = 0;
    for (const std::string& worker : window.workers()) last = std::max(last, window.ended_unix_ns(worker));
    return static_cast<double>(last - window.trial()->created_unix_ns()) / 1e9;
  }

  Verdict verdict(const std::string& what, double seconds, std::int64_t step) const {
    return fired(fmt::format("{}; {:.3g} minutes are put up with.", what, threshold_minutes_), kAdvice,
                 {{"", "", "start_seconds", seconds, 60 * threshold_minutes_, step}});
  }

  const double threshold_minutes_;
  bool is_decided_ = false;
  int looks_ = 0;  // in vain
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double threshold = read.number("threshold", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new MaxInitializationTime(threshold));
}

}  // namespace
}  // namespace max_initialization_time_rule

RuleKind max_initialization_time() {
  return {
      {.name = "MaxInitializationTime",
       .summary = "Fires when the first step takes too long to come.",
       .parameters = {{"threshold", "20", "what is put up with, in minutes"}},
       .topic = "profiling",
       .details =
           "Fires when the first step that was captured ended later than `threshold` minutes after the process began "
           "(`trainwarden/start_seconds`; where that is not known, after the run was created), and, beside a training "
           "that goes on, when no step has come until then. It predicts no gain: SlowStart does, where the start is "
           "much of the run. Evidence: `start_seconds`.",
       .source = "SageMaker Debugger's rule of this name",
       .profiles = true},
      max_initialization_time_rule::create};
}

}  // namespace trainwarden::rules
