// StepOutlier: some steps take far longer than the others.
//
// Source: SageMaker Debugger's rule of this name. Mended: its limit is mean and standard deviation, which the outliers
// themselves raise; ours are median and median absolute deviation. It keeps the details of one mode only, and fires at
// the eleventh outlier of any number of steps; ours judges each worker and mode by itself, and by the time that is
// lost. Ours: the phase that made a step long, and a rhythm. What evaluation, checkpoints, starting loaders and capture
// take is left out: they come now and then by nature, and have rules of their own. Train steps that were not written
// are judged by trainwarden/step_times: what comes every hundredth step is never among those that a budget picks.
//
// State: for each worker and mode the last 501 times and phases' medians (OutlierWatch).
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/profiler/finding.h"
#include "judge/rules/builtin/profiler/outlier_watch.h"
#include "judge/rules/builtin/profiler/phase_rule.h"
#include "judge/rules/builtin/profiler/profiler_rules.h"
#include "judge/rules/builtin/training/signal_reading.h"
#include "judge/rules/needs.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"

namespace trainwarden::rules {
namespace step_outlier_rule {
namespace {

constexpr std::size_t kMostWatched = 2048;  // workers and modes
constexpr double kCausePart = 0.5;          // of the excess: a phase with that much is named
constexpr double kLongestSeconds = 1e9;     // thirty years
constexpr const char* kAdvice =
    "Look at what these steps do that others do not (`trainwarden phases`, logging, garbage collection, a disk that is "
    "slow now and then); the steps take equally long without it.";
constexpr const char* kAdviceUnseen =
    "Look at what these steps do that others do not (logging, garbage collection, a disk that is slow now and then): "
    "`trainwarden profile RUN --steps N`, with N of at least their distance, records what they spend their time on.";
// What a worker does now and then by nature.
constexpr bool is_set_apart(Phase phase) {
  return phase == Phase::kEvaluation || phase == Phase::kCheckpoint || phase == Phase::kDataStart ||
         phase == Phase::kCapture;
}

struct StepOutlierLimits {
  OutlierLimits time;
  double share = 0;
  std::int64_t outliers = 0;
  double training_seconds = 0;
};

// The steps of one worker in one mode.
struct Watched {
  explicit Watched(const OutlierLimits& limits) : watch(limits) {}

  // Of what outliers take above the median, without what is set apart.
  double excess() const { return std::max(0.0, watch.excess() - set_apart); }
  double share() const { return watch.seconds() > 0 ? excess() / watch.seconds() : 0; }
  void add(std::int64_t step, double seconds) {
    if (step <= newest) return;
    newest = step;
    watch.add(step, seconds);
  }

  OutlierWatch watch;
  std::int64_t newest = -1;                     // step of the mode
  bool has_all = false;                         // the times of all steps are known, with what is set apart in them
  double set_apart = 0;                         // seconds that the times have too much
  std::optional<TimedStep> last;                // that had totals
  std::array<double, kPhaseCount> usual{};      // of each phase, a running median
  std::array<double, kPhaseCount> excess_of{};  // of outliers, by phase
};

class StepOutlier final : public Rule {
 public:
  explicit StepOutlier(const StepOutlierLimits& limits) : limits_(limits) {}

  Verdict evaluate(const StepWindow& window) override {
    const bool is_training = window.mode() == Mode::kTrain || window.mode() == Mode::kGlobal;
    std::size_t seen = 0;
    if (is_training) {
      seen += take_all_times(window);
      seen += take_phases(window);
    } else {
      seen += take_seconds(window);
    }
    if (seen == 0) {
      return Verdict::not_applicable(fmt::format("no time of a step was captured at {}", describe_step(window)));
    }
    return judge(window);
  }

  std::vector<Collection> needs() const override { return {need_signals(), need_values("scalars", 1)}; }

 private:
  using Key = std::pair<std::string, Mode>;

  Watched* watched_of(const std::string& worker, Mode mode) {
    const auto known = watched_.find({worker, mode});
    if (known != watched_.end()) return &known->second;
    if (watched_.size() == kMostWatched) return nullptr;
    return &watched_.emplace(Key{worker, mode}, Watched(limits_.time)).first->second;
  }

  // Of the steps before this one.
  std::size_t take_all_times(const StepWindow& window) {
    if (window.trial() != nullptr && !window.trial()->has_tensor(signals::kStepTimes)) return 0;
    const auto times = list_signals(window, signals::kStepTimes);
    for (const auto& [spot, seconds] : times.signals) {
      Watched* const watched = watched_of(spot.worker, window.mode());
      if (watched == nullptr) continue;
      watched->has_all = true;
      std::int64_t step = window.mode_step() - static_cast<std::int64_t>(seconds.size());
      for (const double each : seconds) {
        if (each > 0 && each < kLongestSeconds) watched->add(step, each);
        ++step;
      }
    }
    return times.signals.size();
  }

  std::size_t take_phases(const StepWindow& window) {
    const auto steps = read_phases(window);
    for (const auto& [worker, step] : steps) {
      Watched* const watched = watched_of(worker, window.mode());
      if (watched != nullptr) take(*watched, step, window.mode_step());
    }
    return steps.size();
  }

  // Of steps that have no phases.
  std::size_t take_seconds(const StepWindow& window) {
    const auto seconds = scalar_signals(window, signals::kStepSeconds);
    for (const auto& [spot, of_worker] : seconds.signals) {
      Watched* const watched = watched_of(spot.worker, window.mode());
      if (watched != nullptr && of_worker > 0) watched->add(window.mode_step(), of_worker);
    }
    return seconds.signals.size();
  }

  static void take(Watched& watched, const TimedStep& step, std::int64_t number) {
    set_apart(watched, step);
    if (!step.divided) return;
    double own = step.divided->wall;
    for (std::size_t i = 0; i < kPhaseCount; ++i) {
      own -= is_set_apart(static_cast<Phase>(i)) ? step.divided->seconds[i] : 0;
    }
    own = std::max(0.0, own);
    if (!watched.has_all) watched.add(number, own);
    const auto time = watched.watch.judge(own);
    learn_phases(watched, *step.divided, time && time->is_outlier);
  }

  // What all times hold of phases that are set apart, since the step before. Steps that are not written capture
  // nothing.
  static void set_apart(Watched& watched, const TimedStep& step) {
    const bool is_continued = step.total_wall && watched.last && *step.total_wall >= *watched.last->total_wall;
    if (watched.has_all && is_continued) {
      for (const Phase phase : {Phase::kDataStart, Phase::kEvaluation, Phase::kCheckpoint}) {
        const auto i = static_cast<std::size_t>(phase);
        watched.set_apart += std::max(0.0, step.totals[i] - watched.last->totals[i]);
      }
    }
    if (watched.has_all && step.divided) watched.set_apart += step.divided->of(Phase::kCapture);
    if (step.total_wall) watched.last = step;
  }

  static void learn_phases(Watched& watched, const DividedStep& step, bool is_outlier) {
    for (std::size_t i = 0; i < kPhaseCount; ++i) {
      double& usual = watched.usual[i];
      const double seconds = step.seconds[i];
      if (is_outlier) {
        if (!is_set_apart(static_cast<Phase>(i))) watched.excess_of[i] += std::max(0.0, seconds - usual);
      } else if (usual == 0) {
        usual = seconds;
      } else {
        usual *= seconds > usual ? 1.05 : 1 / 1.05;  // goes to the median
      }
    }
  }

  Verdict judge(const StepWindow& window) const {
    const Key* worst_key = nullptr;
    const Watched* worst = nullptr;
    bool is_enough = false;
    for (const auto& [key, watched] : watched_) {
      const OutlierWatch& watch = watched.watch;
      if (key.second != window.mode() || watch.seconds() < limits_.training_seconds) continue;
      is_enough = true;
      if (worst == nullptr || watched.share() > worst->share()) {
        worst = &watched;
        worst_key = &key;
      }
    }
    if (!is_enough) {
      return Verdict::insufficient_data(fmt::format("{} steps and {:.3g} s of this mode are waited for",
                                                    OutlierWatch::kFewest, limits_.training_seconds));
    }
    const bool are_many = static_cast<std::int64_t>(worst->watch.outliers()) > limits_.outliers;
    if (!are_many || worst->share() < limits_.share) return Verdict::ok();
    return verdict(*worst, worst_key->first, window);
  }

  Verdict verdict(const Watched& worst, const std::string& worker, const StepWindow& window) const {
    const OutlierWatch& watch = worst.watch;
    const double share = worst.share();
    const Cost cost = cost_of({share, share / 2, share});
    const std::int64_t period = watch.period();
    std::string message = fmt::format(
        "{} of {} {} steps{} take far longer than the others (median {}){}{}, and {:.3g} % of the time is lost so. "
        "Without that, training is {}.",
        watch.outliers(), watch.count(), name(window.mode()), window.workers().size() > 1 ? " of " + worker : "",
        seconds_text(watch.median()), period > 0 ? fmt::format(", every {} steps", period) : "", cause_of(worst),
        100 * share, gain_text(cost));
    const auto own = [&](const char* quantity, double value, double threshold) {
      return Evidence{"", window.workers().size() > 1 ? worker : "", quantity, value, threshold, window.global_step()};
    };
    std::vector<Evidence> evidence = {
        own("outlier_share", share, limits_.share),
        own("outliers", static_cast<double>(watch.outliers()), static_cast<double>(limits_.outliers)),
        own("median_seconds", watch.median(), 0), own("period", static_cast<double>(period), 0)};
    const std::size_t first = watch.numbers().size() - std::min<std::size_t>(watch.numbers().size(), 8);
    const std::int64_t steps_of_other_modes = window.global_step() - window.mode_step();
    for (std::size_t i = first; i < watch.numbers().size(); ++i) {
      const std::int64_t step = watch.numbers()[i];
      evidence.push_back({"", "", "outlier_step", static_cast<double>(step), 0, step + steps_of_other_modes});
    }
    const bool is_cause_known = !cause_of(worst).empty();
    return finding(std::move(message), is_cause_known ? kAdvice : kAdviceUnseen, cost, std::move(evidence),
                   window.global_step());
  }

  static std::string cause_of(const Watched& watched) {
    double sum = 0;
    for (const double excess : watched.excess_of) sum += excess;
    const auto most = std::max_element(watched.excess_of.begin(), watched.excess_of.end());
    if (!(sum > 0) || *most < kCausePart * sum) return "";
    const auto phase = static_cast<Phase>(most - watched.excess_of.begin());
    return fmt::format(", mostly in the phase \"{}\"", rules::name(phase));
  }

  const StepOutlierLimits limits_;
  std::map<Key, Watched> watched_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  StepOutlierLimits limits;
  limits.time.deviations = read.number("stddev", 0);
  limits.time.factor = read.number("factor", 1);
  limits.time.least_excess = read.number("min_seconds", 0);
  limits.share = read.number("threshold", 0, 1);
  limits.outliers = read.integer("n_outliers", 0, 1'000'000);
  limits.training_seconds = read.number("min_training_seconds", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new StepOutlier(limits));
}

}  // namespace
}  // namespace step_outlier_rule

RuleKind step_outlier() {
  return {
      {.name = "StepOutlier",
       .summary = "Fires when some steps take far longer than the others, and much time is lost so.",
       .parameters = {{"stddev", "5", "standard deviations above the median, from the median absolute deviation"},
                      {"factor", "2", "and so many times the median"},
                      {"min_seconds", "0.02", "and longer than the median by so much, in seconds"},
                      {"threshold", "0.1", "part of the time that may be lost so, from 0 to 1"},
                      {"n_outliers", "10", "so many outliers are put up with"},
                      {"min_training_seconds", "2", "seconds of steps that must be known"}},
       .topic = "profiling",
       .details =
           "A step is an outlier when it takes longer than the median of the last 501 of its mode and worker by "
           "`stddev` deviations (1.4826 median absolute deviations each), `factor` times the median and `min_seconds`. "
           "All train steps are judged, also those that were not written. Fires when there are more than `n_outliers`, "
           "and what they take above the median is at least `threshold` of all time. Evaluation, checkpoints, starting "
           "a loader and capture are left out of a step's time. The message names the phase with most of the excess, "
           "and the distance in steps where the outliers have one.\n\n"
           "Predicted gain: without the excess. Bounds: with half of it, and without it.\n\n"
           "Needs `trainwarden/step_times` or the phases of train steps; of other modes `trainwarden/step_seconds`. "
           "Evidence: `step_share`, `gain`, `gain_min`, `gain_max`, `outlier_share`, `outliers`, `median_seconds`, "
           "`period`, and the newest `outlier_step` (of the mode).",
       .source = "SageMaker Debugger's rule of this name; median and median absolute deviation in place of mean and "
                 "standard deviation, each mode and worker by itself, the time lost and the phase are ours",
       .profiles = true},
      step_outlier_rule::create};
}

}  // namespace trainwarden::rules
