// InputBound: the training waits for its data.
//
// Source: the share of a step in which the program waits for input, with the limits of TraceML (warning at 10 %, severe
// at 20 %; XProf has 5 % and 20 %). Ours: starting the workers of a loader counts too, a least wait for each step, and
// what the samples of the machine say of the cause; the predicted gain by Amdahl's law.
//
// State: sums of phases, by worker (PhaseShares).
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/machine_use.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"

namespace trainwarden::rules {
namespace input_bound_rule {
namespace {

constexpr Phase kWaits[] = {Phase::kDataWait, Phase::kDataStart};
constexpr double kSaturated = 0.9;   // of the processors that the training can use
constexpr double kOneThread = 0.75;  // of one processor: the loader computes, and does so in one thread
constexpr double kDiskBound = 0.3;   // of the time, somebody waited for a disk
constexpr const char* kMoreWorkers =
    "Raise num_workers of the DataLoader (or do less for each sample, or keep prepared samples); phase/data_wait falls "
    "to nearly nothing when the loader keeps up.";
constexpr const char* kLessWork =
    "Do less for each sample, or prepare samples once and keep them: the processors are used up, and more workers "
    "would only share them; phase/data_wait falls when the loader keeps up.";
constexpr const char* kFasterFiles =
    "Read less or from faster storage (larger files, samples kept in memory or on a local disk); phase/data_wait falls "
    "when the files come in time.";
constexpr const char* kPersistentWorkers =
    "Set persistent_workers=True in the DataLoader, which keeps its workers from one epoch to the next; "
    "phase/data_start falls to nearly nothing.";

// What keeps the loader from being faster, as far as the machine's samples tell.
struct InputCause {
  std::string text;  // of the message
  const char* advice = kMoreWorkers;
  Removable removable{};
};

class InputBound final : public PhaseRule {
 public:
  using PhaseRule::PhaseRule;

 private:
  void look_at(const StepWindow& window) override { use_.note(window); }

  Verdict judge(const StepWindow& window) override {
    if (!shares().has_seen(Phase::kDataWait)) {
      return Verdict::not_applicable("the run says nothing of waits for data: no loader was seen that is a DataLoader");
    }
    const ShareRange share = shares().share(kWaits);
    const double seconds = shares().seconds_a_step(kWaits);
    if (!is_worth_it(share, seconds)) return Verdict::ok();
    return verdict(share, seconds, window);
  }

  Verdict verdict(const ShareRange& share, double seconds, const StepWindow& window) {
    const ShareRange start = shares().share(Phase::kDataStart);
    const InputCause cause = start.mean > share.mean / 2 ? of_start(start) : of_wait(share, window);
    const Cost cost = cost_of(share, cause.removable);
    std::string message = fmt::format(
        "The training waits for its data {:.3g} % of the time, {} a step{}. With a loader that keeps up it is {}.",
        100 * share.mean, seconds_text(seconds), cause.text, gain_text(cost));
    return finding(
        std::move(message), cause.advice, cost,
        {own("input_share", share.mean, limits().share, window),
         own("input_seconds", seconds, limits().seconds_a_step, window), own("start_share", start.mean, 0, window)},
        window.global_step());
  }

  static InputCause of_start(const ShareRange& start) {
    return {fmt::format("; for {:.3g} % it starts workers anew for each epoch", 100 * start.mean),
            kPersistentWorkers,
            {1, 0.7, 1}};
  }

  InputCause of_wait(const ShareRange& share, const StepWindow& window) {
    const MachineUse* const use = use_.at(window);
    if (use == nullptr) return {"", kMoreWorkers, {1, 0.8, 1}};
    if (use->waits_for_disks >= kDiskBound) {
      return {fmt::format("; {:.3g} % of the time somebody waited for a disk", 100 * use->waits_for_disks),
              kFasterFiles,
              {1, 0.5, 1}};
    }
    const double available = std::max(use->processors, 0.01);
    if (use->busy >= kSaturated * available) {
      return {fmt::format("; it keeps {:.2g} of the {:.3g} processors busy that it can use", use->busy, available),
              kLessWork,
              {1, 0.5, 1}};
    }
    // More workers help as far as there are processors for them.
    if (use->busy >= kOneThread && share.mean >= 0.5) {
      const double spare = std::max(0.0, available - use->busy);
      const double least = std::clamp(spare / (spare + 1), 0.3, 0.8);
      return {fmt::format("; it keeps {:.2g} processors of {:.3g} busy", use->busy, available),
              kMoreWorkers,
              {1, least, 1}};
    }
    return {fmt::format("; meanwhile the processors are idle ({:.2g} of {:.3g} busy), so the loader waits itself",
                        use->busy, available),
            kMoreWorkers,
            {1, 0.8, 1}};
  }

  MachineUseReader use_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const PhaseLimits limits = read_phase_limits(read);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new InputBound(limits));
}

}  // namespace
}  // namespace input_bound_rule

RuleKind input_bound() {
  return {
      {.name = "InputBound",
       .summary = "Fires when the training waits for its data.",
       .parameters = phase_limit_parameters("0.1", "0.002"),
       .topic = "profiling",
       .details =
           "Fires when `phase/data_wait` and `phase/data_start` together take at least `threshold` of the wall time "
           "of train steps, and `min_seconds` of each, over all steps but the first and at least 20. Sums over all "
           "steps (`phase_total`) count where there are any. Of several workers the median one is judged. Where the "
           "machine was sampled the message says what the loader is kept by: a disk, processors that are used up, "
           "one thread, or waiting of its own.\n\n"
           "Predicted gain: 1 / (1 - share), which assumes a loader that keeps up. Bounds: the least and the "
           "greatest share of four quarters of the time; of the least, only a part is removed (a half where "
           "disks or processors are used up).\n\n"
           "Needs the phases of train steps. Loaders that are no `torch.utils.data.DataLoader` are not seen, nor "
           "are copies to a device. Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, `input_share`, "
           "`input_seconds`, `start_share`.",
       .source = "the share of waits as in TraceML and XProf; the least wait, causes and the gain's bounds are ours",
       .profiles = true,
       .consequences = {"StepOutlier"}},
      input_bound_rule::create};
}

}  // namespace trainwarden::rules
