// PhaseShares: what the train steps of a run were spent on, step by step as rules see them, in bounded memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "judge/rules/builtin/profiler/finding.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// Of docs/format/phases.md, without "step" and "start". The first four have totals over all steps.
enum class Phase : std::uint8_t {
  kDataWait,
  kDataStart,
  kEvaluation,
  kCheckpoint,
  kForward,
  kLoss,
  kBackward,
  kGradientSync,
  kClip,
  kOptimizer,
  kZeroGrad,
  kCapture,
  kRest,
};
inline constexpr std::size_t kPhaseCount = 13;
inline constexpr std::size_t kTotalledPhases = 4;
std::string_view name(Phase phase);  // "data_wait"

// One train step of one worker, in seconds.
struct DividedStep {
  double wall = 0;
  std::array<double, kPhaseCount> seconds{};
  double of(Phase phase) const { return seconds[static_cast<std::size_t>(phase)]; }
};

// What one worker said of its times with a step.
struct TimedStep {
  std::optional<DividedStep> divided;   // none: the first step of the run, or one of which the phases are not known
  std::optional<double> start_seconds;  // phase/start: of the first step
  std::optional<double> total_wall;     // since the hook was opened, of all steps
  double total_steps = 0;
  std::array<double, kTotalledPhases> totals{};  // a phase that did not occur has 0
  std::array<double, kTotalledPhases> times{};   // how often it occurred; 0 where that is not counted
  bool empty() const { return !divided && !start_seconds && !total_wall; }
};

// By worker; those that said nothing are not there. Errors of reading: what could not be read is not there either.
std::map<std::string, TimedStep> read_phases(const StepWindow& window);

// A sum over some steps of one worker.
class PhaseSums {
 public:
  void add(const DividedStep& step);
  void add_totals(const TimedStep& before, const TimedStep& after);
  void add(const PhaseSums& other);

  // Of the wall time of all steps, in [0, 1]. Phases with totals take their share of all steps, and so does capture,
  // which the steps that were divided have alone; the others divide what is left as in those steps.
  double share(Phase phase) const;
  double seconds() const { return total_wall_ > 0 ? total_wall_ : divided_wall_; }
  double steps() const { return total_steps_ > 0 ? total_steps_ : static_cast<double>(divided_steps_); }
  std::size_t divided_steps() const { return divided_steps_; }

 private:
  std::size_t divided_steps_ = 0;
  double divided_wall_ = 0;
  std::array<double, kPhaseCount> divided_{};
  double total_wall_ = 0;  // 0: no totals were written
  double total_steps_ = 0;
  std::array<double, kTotalledPhases> totals_{};
};

// The steps after the first one, which holds the beginning of the run.
class PhaseShares {
 public:
  static constexpr std::size_t kMaxWorkers = 1024;  // the others are not looked at
  static constexpr std::size_t kMostChunks = 64;    // for each worker

  // False when no worker said anything of phases at this step.
  bool take(const StepWindow& window);
  bool take(const std::map<std::string, TimedStep>& step);

  const std::map<std::string, TimedStep>& newest() const { return newest_; }
  std::vector<std::string> workers() const;
  double seconds() const;             // wall time of the steps seen: the least of all workers
  double steps() const;               // train steps in it
  std::size_t divided_steps() const;  // of these divided into phases: the least of all workers
  bool has_seen(Phase phase) const;   // on any worker, in any step

  // Of one worker: mean over all, low and high of the quarters of that time. Too little time: a third around the mean.
  ShareRange share(const std::string& worker, std::span<const Phase> phases) const;
  // The median of the workers; low and high of the one that it is.
  ShareRange share(std::span<const Phase> phases) const;
  ShareRange share(Phase phase) const { return share(std::span(&phase, 1)); }
  // Seconds a step of that, on the median worker.
  double seconds_a_step(std::span<const Phase> phases) const;

 private:
  struct OfWorker {
    std::optional<TimedStep> last_totals;
    std::vector<PhaseSums> chunks;  // stretches of about the same length, the newest last
    double chunk_seconds = 0.25;    // that a chunk has at least
    PhaseSums sum() const;
  };
  static void take(OfWorker& worker, const TimedStep& step);
  static ShareRange share_of(const OfWorker& worker, std::span<const Phase> phases);
  const OfWorker* median_worker(std::span<const Phase> phases) const;

  std::map<std::string, TimedStep> newest_;
  std::map<std::string, OfWorker> workers_;
  std::array<bool, kPhaseCount> seen_{};
};

}  // namespace trainwarden::rules
