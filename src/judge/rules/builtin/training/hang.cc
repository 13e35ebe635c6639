// Hang: no step for much longer than the run's steps take, while its processes live.
//
// Source: the limit max(floor, 10 × median, 3 × 99.9th percentile) of the time between steps, as heartbeat monitors of
// large trainings fit it to a run. Ours: past that limit a pause is only a note, since many programs save, evaluate or
// download for a minute between two steps; it is a hang when it has also lasted `hang_seconds`, the ten minutes after
// which DLRover takes a training for hung. A worker is behind when its last step lies before that of another, and a
// worker that stands still while others go on is hung, too. Workers that have not ended a step report where they are,
// and whether they use a processor, a disk or a network (stall_report.h): where all of those that are late do not, the
// first limit is that of a hang.
//
// State: the last 1000 times between steps.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "judge/rules/builtin/training/collective_order.h"
#include "judge/rules/builtin/training/stall_report.h"
#include "judge/rules/builtin/training/step_pace.h"
#include "judge/rules/builtin/training/training_rules.h"
#include "judge/rules/builtin/training/worker_progress.h"
#include "judge/rules/parameters.h"
#include "judge/rules/step_statistics.h"
#include "judge/rules/timeline/clock_schedule.h"

namespace trainwarden::rules {
namespace hang_rule {
namespace {

constexpr std::size_t kFewestTimes = 10;  // between steps, before anything is said
constexpr double kMedianFactor = 10;
constexpr double kSlowestFactor = 3;
constexpr double kSlowestShare = 0.999;
constexpr const char* kNoteAdvice =
    "If the program saves, evaluates or loads data now, wait; else see what it waits for.";
constexpr std::int64_t kFreshNs = 30'000'000'000;  // reports of stalls are renewed every ten seconds
constexpr const char* kReportedAdvice =
    "All stacks of the workers are in the run's folder stalls. A worker that waits in a collective waits for one that "
    "is not there: look at those that are elsewhere first.";
constexpr const char* kHangAdvice =
    "Look at the stacks of the training processes (gdb -p PID, or py-spy dump --pid PID), first of a worker that is "
    "behind: one that waits in a collective waits for a worker that is not there.";

double seconds_since(std::int64_t earlier_unix_ns, std::int64_t now_unix_ns) {
  return static_cast<double>(now_unix_ns - earlier_unix_ns) / 1e9;
}

std::string duration(double seconds) {
  return format_duration_ns(static_cast<std::int64_t>(seconds * 1e9));
}

class Hang final : public Rule {
 public:
  Hang(double floor_seconds, double hang_seconds) : floor_seconds_(floor_seconds), hang_seconds_(hang_seconds) {}

  Verdict evaluate(const StepWindow& window) override {
    std::int64_t ended = 0;
    for (const std::string& worker : window.workers()) ended = std::max(ended, window.ended_unix_ns(worker));
    if (ended == 0) return Verdict::not_applicable(fmt::format("when {} ended is not known", describe_step(window)));
    pace_.add(ended);
    if (pace_.size() >= kFewestTimes) return Verdict::ok();
    return Verdict::insufficient_data(
        fmt::format("{} of {} times between steps are known at {}", pace_.size(), kFewestTimes, describe_step(window)));
  }

  std::optional<TimeSchedule> schedule() const override { return by_the_clock(); }

  Verdict evaluate_time(const TimeWindow& window) override {
    if (pace_.size() < kFewestTimes) {
      return Verdict::insufficient_data(
          fmt::format("{} of {} times between steps are known", pace_.size(), kFewestTimes));
    }
    std::vector<WorkerProgress> workers = worker_progress(window.trial);
    if (workers.empty()) return Verdict::not_applicable("nobody is alive that could hang");
    std::stable_sort(workers.begin(), workers.end(),
                     [](const WorkerProgress& a, const WorkerProgress& b) { return a.last_unix_ns < b.last_unix_ns; });
    const double silent = seconds_since(workers.front().last_unix_ns, window.to_unix_ns);
    const double limit = note_limit();
    if (!(silent > limit)) return Verdict::ok();
    return verdict(workers, silent, limit, window);
  }

 private:
  double note_limit() const {
    return std::max({floor_seconds_, kMedianFactor * pace_.median(), kSlowestFactor * pace_.quantile(kSlowestShare)});
  }

  Verdict verdict(const std::vector<WorkerProgress>& workers, double silent, double limit,
                  const TimeWindow& window) const {
    std::vector<WorkerProgress> late;
    for (const WorkerProgress& worker : workers) {
      if (seconds_since(worker.last_unix_ns, window.to_unix_ns) > limit) late.push_back(worker);
    }
    const Reports reports = reports_of(late, window);
    const bool all_wait = reports.idle == late.size();
    const double hang_limit = all_wait ? limit : std::max(limit, hang_seconds_);
    const bool hangs = silent > hang_limit;
    const double passed = hangs ? hang_limit : limit;
    std::vector<Evidence> evidence;
    for (const WorkerProgress& worker : late) {
      const double of_worker = seconds_since(worker.last_unix_ns, window.to_unix_ns);
      if (!(of_worker > passed)) continue;
      const std::string shown = window.trial.world_size() > 1 ? worker.worker : "";
      evidence.push_back({"", shown, "seconds_without_step", of_worker, passed, worker.last_step});
    }
    std::string message = fmt::format(
        "No step for {}, since step {}; a step takes {} (median), and more than {} is {}.", duration(silent),
        workers.front().last_step, duration(pace_.median()), duration(passed), hangs ? "a hang" : "unusual");
    message += behind(workers) + reports.text;
    const char* const advice = !hangs ? kNoteAdvice : reports.text.empty() ? kHangAdvice : kReportedAdvice;
    Verdict verdict =
        fired(std::move(message), advice, std::move(evidence), hangs ? Severity::kError : Severity::kInfo);
    verdict.confidence = hangs ? 0.8 : 0.3;
    return verdict;
  }

  struct Reports {
    std::string text;
    std::size_t idle = 0;  // workers that report that they do nothing
  };

  // Where the workers that are late say that they are.
  static Reports reports_of(const std::vector<WorkerProgress>& late, const TimeWindow& window) {
    constexpr std::size_t kMaxNamed = 8;
    Reports reports;
    std::vector<WorkerStall> stalls;
    std::size_t named = 0;
    for (const WorkerProgress& worker : late) {
      std::optional<StallReport> report = read_stall_report(window.trial, worker.worker);
      if (!report || report->written_unix_ns < worker.last_unix_ns ||
          report->written_unix_ns < window.to_unix_ns - kFreshNs) {
        continue;
      }
      reports.idle += report->is_idle ? 1 : 0;
      if (!report->place.empty() && ++named <= kMaxNamed) reports.text += place_of(worker.worker, *report);
      stalls.push_back({worker.worker, *std::move(report)});
    }
    reports.text += compare_collectives(stalls);
    return reports;
  }

  static std::string place_of(const std::string& worker, const StallReport& report) {
    const std::string in_collective =
        report.collective.empty() ? "" : fmt::format(", in {}", printable(report.collective));
    return fmt::format(" {} {} at {}{}.", worker, report.is_idle ? "waits" : "is", printable(report.place),
                       in_collective);
  }

  // Which workers have not come as far as the others.
  static std::string behind(const std::vector<WorkerProgress>& workers) {
    std::int64_t furthest = -1;
    for (const WorkerProgress& worker : workers) furthest = std::max(furthest, worker.last_step);
    std::string listed;
    for (const WorkerProgress& worker : workers) {
      if (worker.last_step == furthest) continue;
      listed += fmt::format("{}{} (step {})", listed.empty() ? "" : ", ", worker.worker, worker.last_step);
    }
    if (!listed.empty()) return fmt::format(" Behind step {} of the others: {}.", furthest, listed);
    return workers.size() > 1 ? " No worker is behind the others." : "";
  }

  const double floor_seconds_;
  const double hang_seconds_;
  StepPace pace_;
};

Result<std::unique_ptr<Rule>> create(const RuleParameters& parameters) {
  ParameterReader read(parameters);
  const double floor_seconds = read.number("floor_seconds", 0);
  const double hang_seconds = read.number("hang_seconds", 0);
  TRAINWARDEN_RETURN_IF_ERROR(read.status());
  return std::unique_ptr<Rule>(new Hang(floor_seconds, hang_seconds));
}

}  // namespace
}  // namespace hang_rule

RuleKind hang() {
  return {{.name = "Hang",
           .summary = "Fires when no step comes for much longer than the run's steps take.",
           .parameters = {{"floor_seconds", "60", "a shorter pause is never even a note, in seconds"},
                          {"hang_seconds", "600", "a pause that has lasted longer is a hang, in seconds"}},
           .topic = "training",
           .details =
               "A pause is a note when it is longer than `floor_seconds`, 10 times the median and 3 times the 99.9th "
               "percentile of the last 1000 times between steps; it is an error when it is longer than `hang_seconds`, "
               "too, or when all workers that are late report that they use no processor and read and write nothing. "
               "Each living worker is judged by its own last step, so one that stands still while others go on "
               "is found, and the message says which workers are behind.\n\n"
               "PyTorch programs write where all threads of a late worker are, into the folder `stalls` of the run, "
               "and the "
               "message names the line of the program that waits, and which worker has begun fewer collective "
               "operations than the others of its process group, or calls another one at the same place. Judged beside "
               "a live training only, after 10 times between steps. It needs nothing to be captured. It "
               "cannot see a run whose processes are gone (such a run has died, and its state says so), nor tell a "
               "hang from long work that no step shows, as after the last step of a training: raise `hang_seconds` "
               "for such programs. Evidence: `seconds_without_step` of each worker that is late.",
           .source = "max(60 s, 10 × median, 3 × p99.9), as heartbeat limits are fitted to a run; ten minutes as in "
                     "DLRover; the two stages are ours",
           .by_default = true,
           .in_process = false,
           .consequences = {"StalledTrainingRule"}},
          hang_rule::create};
}

}  // namespace trainwarden::rules
