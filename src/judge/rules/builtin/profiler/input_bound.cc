// InputBound: the training waits for its data.
//
// Source: the share of a step in which the program waits for input, with the limits of TraceML (warning at 10 %, severe
// at 20 %; XProf has 5 % and 20 %). Ours: starting the workers of a loader counts too, a least wait for each step, and
// the predicted gain by Amdahl's law.
//
// State: sums of phases, by worker (PhaseShares).
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/phase_shares.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace input_bound_rule {
namespace {

constexpr Phase kWaits[] = {Phase::kDataWait, Phase::kDataStart};
constexpr std::size_t kFewestSteps = 20;
constexpr const char* kMoreWorkers =
    "Raise num_workers of the DataLoader (or do less for each sample, or keep prepared samples); phase/data_wait falls "
    "to nearly nothing when the loader keeps up.";
constexpr const char* kPersistentWorkers =
    "Set persistent_workers=True in the DataLoader, which keeps its workers from one epoch to the next; "
    "phase/data_start falls to nearly nothing.";

struct InputLimits {
  double share = 0;
  double seconds_a_step = 0;
  double seconds = 0;  // of train steps that must have been seen
};

class InputBound final : public Rule {
 public:
  explicit InputBound(const InputLimits& limits) : limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    if (!shares_.take(window)) {
      return Verdict::not_applicable(fmt::format("no phases were captured at {}", describe_step(window)));
    }
    if (shares_.divided_steps() < kFewestSteps || shares_.seconds() < limits_.seconds) {
      return Verdict::insufficient_data(
          fmt::format("{} train steps of {:.3g} s are known; {} and {:.3g} s are waited for", shares_.divided_steps(),
                      shares_.seconds(), kFewestSteps, limits_.seconds));
    }
    if (!shares_.has_seen(Phase::kDataWait)) {
      return Verdict::not_applicable("the run says nothing of waits for data: no loader was seen that is a DataLoader");
    }
    const ShareRange share = shares_.share(kWaits);
    const double seconds_a_step = shares_.seconds_a_step(kWaits);
    if (share.mean < limits_.share || seconds_a_step < limits_.seconds_a_step) return Verdict::ok();
    return judge(share, seconds_a_step, window);
  }

  std::vector<Collection> needs() const override { return {need_values("scalars", 1)}; }

 private:
  Verdict judge(const ShareRange& share, double seconds_a_step, const StepWindow& window) const {
    const Cost cost = cost_of(share);
    const ShareRange start = shares_.share(Phase::kDataStart);
    const bool is_start = start.mean > share.mean / 2;
    std::string message = fmt::format(
        "The training waits for its data {:.3g} % of the time, {} a step{}. Without it the training is {}, if the "
        "loader "
        "can keep up with it.",
        100 * share.mean, format_duration_ns(static_cast<std::int64_t>(seconds_a_step * 1e9)),
        is_start ? fmt::format("; {:.3g} % are workers that are started anew for each epoch", 100 * start.mean) : "",
        gain_text(cost));
    const auto own = [&](const char* quantity, double value, double threshold) {
      return Evidence{"", "", quantity, value, threshold, window.global_step()};
    };
    return finding(std::move(message), is_start ? kPersistentWorkers : kMoreWorkers, cost,
                   {own("input_share", share.mean, limits_.share),
                    own("input_seconds", seconds_a_step, limits_.seconds_a_step), own("start_share", start.mean, 0)},
                   window.global_step());
  }

  const InputLimits limits_;
  PhaseShares shares_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  InputLimits limits;
  limits.share = read.number("threshold", 0, 1);
  limits.seconds_a_step = read.number("min_seconds", 0);
  limits.seconds = read.number("min_training_seconds", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new InputBound(limits));
}

}  // namespace
}  // namespace input_bound_rule

RuleKind input_bound() {
  return {
      {.name = "InputBound",
       .summary = "Fires when the training waits for its data.",
       .parameters = {{"threshold", "0.1", "part of the train steps that is put up with, from 0 to 1"},
                      {"min_seconds", "0.002", "a shorter wait is put up with, in seconds a step"},
                      {"min_training_seconds", "5", "seconds of train steps that must be known"}},
       .topic = "profiling",
       .details =
           "Fires when `phase/data_wait` and `phase/data_start` together take at least `threshold` of the wall time "
           "of train steps, and `min_seconds` of each, over all steps but the first and at least 20. Sums over all "
           "steps (`phase_total`) count where there are any. Of several workers the median one is judged.\n\n"
           "Predicted gain: 1 / (1 - share), with the least and the greatest share of four quarters of the time as "
           "bounds. It assumes that a better loader keeps up with the training.\n\n"
           "Needs the phases of train steps. Loaders that are no `torch.utils.data.DataLoader` are not seen, nor "
           "are copies to a device. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, `input_share`, "
           "`input_seconds`, `start_share`.",
       .source = "the share of waits as in TraceML and XProf; the least wait and the gain's bounds are ours",
       .profiles = true},
      input_bound_rule::create};
}

}  // namespace trainwarden::rules
