#include "read/profile/step_follower.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <string_view>
#include <utility>

#include "read/trial/tensor_series.h"
#include "read/trial/trial_access.h"
#include "read/trial/worker_journal.h"

namespace trainwarden::profile {
namespace {

constexpr std::string_view kPhasePrefix = "phase/", kTotalPrefix = "phase_total/";
constexpr std::string_view kWholeStep = "step";   // the wall time of a step, which its phases sum to
constexpr std::string_view kFirstStep = "start";  // in its place in the first step of a run
constexpr const char* kStepSeconds = "trainwarden/step_seconds";
constexpr const char* kStepTimes = "trainwarden/step_times";
constexpr const char* kStartSeconds = "trainwarden/start_seconds";
constexpr std::string_view kWaitsForOthers = "gradient_sync";

constexpr std::chrono::hours kWithoutEnd{24};  // all of it is wanted, in one piece
constexpr double kLongestSeconds = 1e9;        // thirty years
constexpr std::size_t kStepsInOneGo = 8192;    // with all of their phases in memory
constexpr std::size_t kMaxStepTimes = 4096;    // in one list

using SeriesPoints = decltype(trial::SeriesPart::points);

bool is_duration(double seconds) {
  return seconds >= 0 && seconds <= kLongestSeconds;
}

// The names that begin so, by what follows.
Result<std::vector<std::string>> names_after(const Trial& trial, std::string_view prefix) {
  TRAINWARDEN_ASSIGN_OR_RETURN(auto names, trial.tensor_names({.include = {"^" + std::string(prefix)}}));
  if (names.size() > kMaxPhases) names.resize(kMaxPhases);
  for (std::string& name : names) name.erase(0, prefix.size());
  return names;
}

}  // namespace

struct StepFollower::Names {
  std::vector<std::string> phases;
  std::vector<std::string> totals;
};

// What is new of one worker.
class StepFollower::WorkerReader {
 public:
  WorkerReader(Trial& trial, trial::WorkerJournal& journal, Worker& worker, std::map<std::string, std::size_t>& next,
               std::int64_t last_step)
      : trial_(trial), journal_(journal), worker_(worker), next_(next), last_step_(last_step) {}

  Status read(const Names& names, const std::function<void(const FollowedStep&)>& divided) {
    TRAINWARDEN_RETURN_IF_ERROR(read_times(names.phases));
    for (const std::string& phase : names.phases) {
      if (phase != kWholeStep && phase != kFirstStep) TRAINWARDEN_RETURN_IF_ERROR(read_phase(phase));
    }
    read_between();
    TRAINWARDEN_RETURN_IF_ERROR(read_totals(names.totals));
    TRAINWARDEN_RETURN_IF_ERROR(read_start());
    give(divided);
    return {};
  }

 private:
  struct NewStep {
    StepTime time;
    double seconds = 0;
    bool is_divided = false;
    std::map<std::string, double> phases;
  };

  Result<SeriesPoints> news_of(const std::string& tensor) {
    const trial::CatalogTensor* const known = TrialAccess::catalog(trial_).find(tensor);
    const auto index = known == nullptr ? std::nullopt : journal_.tensor(*known);
    if (!index) return SeriesPoints();
    std::size_t& next = next_[tensor];
    TRAINWARDEN_ASSIGN_OR_RETURN(trial::SeriesPart part,
                                 trial::read_series(journal_, *index, {}, next, last_step_, kWithoutEnd));
    next = std::max(next, part.next);
    return std::move(part.points);
  }

  // By the phases, else by the signals, else by when the steps ended.
  Status read_times(const std::vector<std::string>& phases) {
    const bool has_phases = std::find(phases.begin(), phases.end(), kWholeStep) != phases.end();
    if (has_phases) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto points, news_of(std::string(kPhasePrefix) + std::string(kWholeStep)));
      for (const trial::SeriesPoint& point : points) add_step(point, point.value, true);
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto signals, news_of(kStepSeconds));
    if (!has_phases) {
      for (const trial::SeriesPoint& point : signals) add_step(point, point.value, false);
    }
    if (!has_phases && signals.empty() && next_[kStepSeconds] == 0) read_ends();
    return {};
  }

  void add_step(const trial::SeriesPoint& point, double seconds, bool is_divided) {
    const std::int64_t known = worker_.steps.empty() ? -1 : worker_.steps.back().global_step;
    if (point.global_step <= known || !is_duration(seconds) || seconds == 0) return;
    NewStep& step = steps_[point.global_step];
    if (step.seconds > 0) return;
    step.seconds = seconds;
    const auto length = static_cast<float>(seconds);
    step.time = {point.global_step, point.unix_ns, length, length};
    step.is_divided = is_divided;
  }

  // Train steps that follow on each other and were both written: of others it is not known what lies between.
  void read_ends() {
    const auto all = journal_.reader().steps();
    const std::vector<journal::StepEntry> ended(all.begin(), all.end());
    std::size_t& next = next_[""];
    for (; next < ended.size() && ended[next].global_step <= last_step_; ++next) {
      if (next == 0 || ended[next].global_step != ended[next - 1].global_step + 1) continue;
      if (ended[next].mode == Mode::kEval || ended[next].mode == Mode::kPredict) continue;
      if (ended[next].mode != ended[next - 1].mode) continue;
      const std::int64_t began_ns = journal_.reader().unix_ns(next - 1), ended_ns = journal_.reader().unix_ns(next);
      if (began_ns == 0 || ended_ns <= began_ns) continue;
      add_step({ended[next].global_step, ended_ns, ended[next].mode, 0}, static_cast<double>(ended_ns - began_ns) / 1e9,
               false);
    }
  }

  Status read_phase(const std::string& phase) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto points, news_of(std::string(kPhasePrefix) + phase));
    for (const trial::SeriesPoint& point : points) {
      const auto step = steps_.find(point.global_step);
      if (step == steps_.end() || !step->second.is_divided || !is_duration(point.value)) continue;
      if (!step->second.phases.emplace(phase, point.value).second) continue;
      if (phase == kWaitsForOthers) {
        step->second.time.own_seconds = static_cast<float>(std::max(0.0, step->second.seconds - point.value));
      }
    }
    return {};
  }

  // Train steps that were not written, by the lists that those behind them have. What cannot be read is not known.
  void read_between() {
    if (TrialAccess::catalog(trial_).find(kStepTimes) == nullptr) return;
    const StepTime before_all = worker_.steps.empty() ? StepTime{-1, 0, 0, 0} : worker_.steps.back();
    const StepTime* before = &before_all;
    std::vector<StepTime> between;
    for (const auto& [number, step] : steps_) {
      if (number - before->global_step > 1) add_between(*before, step.time, between);
      before = &step.time;
    }
    for (const StepTime& time : between)
      steps_[time.global_step] = {time, static_cast<double>(time.seconds), false, {}};
  }

  void add_between(const StepTime& before, const StepTime& after, std::vector<StepTime>& between) {
    const auto list = trial_.value(kStepTimes, after.global_step, Mode::kGlobal, worker_.name);
    if (!list.ok()) return;
    const std::vector<double> seconds = list->to_doubles();
    if (seconds.empty() || seconds.size() > kMaxStepTimes) return;
    const auto count = static_cast<std::int64_t>(seconds.size());
    // The list begins with the step that was written before, or with the oldest one that it has room for. Where steps
    // of other modes lie between, which have numbers too, a train step's number may be off by as many.
    const bool begins_before = static_cast<float>(seconds.front()) == before.seconds;
    const std::int64_t first = begins_before ? before.global_step : after.global_step - count;
    std::int64_t end_unix_ns = after.end_unix_ns - static_cast<std::int64_t>(static_cast<double>(after.seconds) * 1e9);
    for (std::int64_t i = count - 1; i >= 0; --i) {
      const std::int64_t number = first + i;
      const double length = seconds[static_cast<std::size_t>(i)];
      if (number <= before.global_step || !is_duration(length)) return;
      const auto stored = static_cast<float>(length);
      if (length > 0 && number < after.global_step) between.push_back({number, end_unix_ns, stored, stored});
      end_unix_ns -= static_cast<std::int64_t>(length * 1e9);
    }
  }

  Status read_totals(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto points, news_of(std::string(kTotalPrefix) + name));
      if (!points.empty() && is_count(points.back().value)) worker_.totals[name] = points.back().value;
    }
    return {};
  }
  static bool is_count(double value) { return value >= 0 && value <= 1e15; }

  Status read_start() {
    for (const std::string& name : {std::string(kStartSeconds), std::string(kPhasePrefix) + std::string(kFirstStep)}) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const auto points, news_of(name));
      if (worker_.start_seconds < 0 && !points.empty() && is_duration(points.front().value)) {
        worker_.start_seconds = points.front().value;
      }
    }
    return {};
  }

  void give(const std::function<void(const FollowedStep&)>& divided) {
    for (const auto& [number, step] : steps_) {
      remember(step.time);
      if (!step.is_divided) continue;
      ++worker_.divided_steps;
      worker_.divided_seconds += step.seconds;
      for (const auto& [phase, seconds] : step.phases) worker_.phase_seconds[phase] += seconds;
      if (divided) divided({worker_.name, step.time, step.phases});
    }
  }

  void remember(const StepTime& time) {
    if (worker_.steps.size() >= kMaxRememberedSteps) {
      std::size_t kept = 0;
      for (std::size_t i = 0; i < worker_.steps.size(); i += 2) worker_.steps[kept++] = worker_.steps[i];
      worker_.steps.resize(kept);
      worker_.every *= 2;
    }
    worker_.steps.push_back(time);
  }

  Trial& trial_;
  trial::WorkerJournal& journal_;
  Worker& worker_;
  std::map<std::string, std::size_t>& next_;
  const std::int64_t last_step_;
  std::map<std::int64_t, NewStep> steps_;
};

Status StepFollower::refresh(Trial& trial, std::int64_t last_step,
                             const std::function<void(const FollowedStep&)>& divided) {
  const std::int64_t last = std::min(last_step, trial.last_complete_step());
  Names names;
  TRAINWARDEN_ASSIGN_OR_RETURN(names.phases, names_after(trial, kPhasePrefix));
  TRAINWARDEN_ASSIGN_OR_RETURN(names.totals, names_after(trial, kTotalPrefix));
  for (trial::WorkerJournal* const journal : TrialAccess::journals(trial)) {
    Place* const place = journal->readable() ? place_of(journal->name()) : nullptr;
    if (place == nullptr) continue;
    while (place->steps < journal->reader().steps().size()) {
      const std::size_t end = std::min(place->steps + kStepsInOneGo, journal->reader().steps().size());
      const std::int64_t last_of_these = journal->reader().steps()[end - 1].global_step;
      const std::int64_t until = std::min(last, last_of_these);
      WorkerReader reader(trial, *journal, workers_[place->worker], place->next, until);
      TRAINWARDEN_RETURN_IF_ERROR(reader.read(names, divided));
      if (last_of_these > last) break;  // it is read when it is complete
      place->steps = end;
    }
  }
  return {};
}

StepFollower::Place* StepFollower::place_of(const std::string& worker) {
  for (std::size_t i = 0; i < workers_.size(); ++i) {
    if (workers_[i].name == worker) return &places_[i];
  }
  if (workers_.size() >= kMaxFollowedWorkers) return nullptr;
  workers_.push_back({worker, {}, 1, {}, {}, 0, 0, -1});
  places_.push_back({workers_.size() - 1, 0, {}});
  return &places_.back();
}

std::vector<WorkerPhases> StepFollower::phases() const {
  std::vector<WorkerPhases> all;
  for (const Worker& worker : workers_) {
    if (worker.divided_steps == 0 || worker.divided_seconds <= 0) continue;
    all.push_back(
        divide(worker.name, worker.divided_steps, worker.divided_seconds, worker.phase_seconds, worker.totals));
  }
  return all;
}

}  // namespace trainwarden::profile
