#include "read/profile/step_phases.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "read/trial/tensor_series.h"
#include "read/trial/trial_access.h"
#include "read/trial/worker_journal.h"

namespace trainwarden::profile {
namespace {

constexpr std::string_view kPhase = "phase/", kTotal = "phase_total/";
constexpr std::string_view kStep = "step";  // the wall time of a step, which its phases sum to
// Whose totals are known over all steps.
constexpr std::string_view kTotalled[] = {"data_wait", "data_start", "evaluation", "checkpoint"};

constexpr std::chrono::hours kPatience{24};  // all of it is wanted, in one piece

using Points = std::vector<trial::SeriesPoint>;

// The scalars of one worker whose names begin alike, by what follows.
class ScalarReader {
 public:
  ScalarReader(Trial& trial, trial::WorkerJournal& journal, std::int64_t last_step)
      : trial_(trial), journal_(journal), last_step_(last_step) {}

  Result<std::map<std::string, Points>> read(std::string_view prefix) const {
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto names, trial_.tensor_names({.include = {"^" + std::string(prefix)}}));
    std::map<std::string, Points> found;
    for (const std::string& name : names) {
      const trial::CatalogTensor* const tensor = TrialAccess::catalog(trial_).find(name);
      const auto index = tensor == nullptr ? std::nullopt : journal_.tensor(*tensor);
      if (!index) continue;
      TRAINWARDEN_ASSIGN_OR_RETURN(trial::SeriesPart part,
                                   trial::read_series(journal_, *index, {}, 0, last_step_, kPatience));
      found[name.substr(prefix.size())] = std::move(part.points);
    }
    return found;
  }

 private:
  Trial& trial_;
  trial::WorkerJournal& journal_;
  const std::int64_t last_step_;
};

double last_of(const std::map<std::string, Points>& totals, std::string_view name) {
  const auto found = totals.find(std::string(name));
  return found == totals.end() || found->second.empty() ? 0 : found->second.back().value;
}

// Sums each phase over the steps that have all of them.
WorkerPhases sum_up(const std::map<std::string, Points>& phases) {
  WorkerPhases sums;
  const auto whole = phases.find(std::string(kStep));
  if (whole == phases.end()) return sums;
  std::set<std::int64_t> divided;
  for (const trial::SeriesPoint& point : whole->second) {
    if (divided.insert(point.global_step).second) sums.divided_seconds += point.value;
  }
  sums.divided_steps = divided.size();
  for (const auto& [phase, points] : phases) {
    if (phase == kStep) continue;
    PhaseTime time{phase};
    for (const trial::SeriesPoint& point : points)
      time.seconds += divided.contains(point.global_step) ? point.value : 0;
    if (time.seconds > 0) sums.phases.push_back(std::move(time));
  }
  return sums;
}

bool is_totalled(std::string_view phase) {
  return std::find(std::begin(kTotalled), std::end(kTotalled), phase) != std::end(kTotalled);
}

// Those that are totalled take their share of all steps, the others divide the rest as they do in the divided steps.
void set_shares(WorkerPhases& worker, const std::map<std::string, Points>& totals) {
  worker.steps = last_of(totals, "steps");
  worker.seconds = last_of(totals, "wall");
  double totalled = 0, divided_rest = 0;
  for (const std::string_view phase : kTotalled) {
    const double seconds = worker.seconds > 0 ? last_of(totals, phase) : 0;
    const bool is_known = std::any_of(worker.phases.begin(), worker.phases.end(),
                                      [&](const PhaseTime& time) { return time.phase == phase; });
    if (seconds > 0 && !is_known) worker.phases.push_back({std::string(phase)});
    totalled += seconds;
  }
  for (const PhaseTime& time : worker.phases) divided_rest += is_totalled(time.phase) ? 0 : time.seconds;
  const double rest = worker.seconds > 0 ? std::max(0.0, 1 - totalled / worker.seconds) : 1;
  for (PhaseTime& time : worker.phases) {
    if (worker.seconds <= 0) {
      time.share = time.seconds / worker.divided_seconds;
    } else if (is_totalled(time.phase)) {
      time.share = last_of(totals, time.phase) / worker.seconds;
    } else {
      time.share = rest * time.seconds / divided_rest;
    }
  }
  std::sort(worker.phases.begin(), worker.phases.end(),
            [](const PhaseTime& a, const PhaseTime& b) { return a.share > b.share; });
}

}  // namespace

Result<std::vector<WorkerPhases>> step_phases(Trial& trial, std::int64_t last_step) {
  std::vector<WorkerPhases> workers;
  const std::int64_t last = std::min(last_step, trial.last_complete_step());
  for (trial::WorkerJournal* const journal : TrialAccess::journals(trial)) {
    if (!journal->readable()) continue;
    const ScalarReader reader(trial, *journal, last);
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto phases, reader.read(kPhase));
    WorkerPhases worker = sum_up(phases);
    if (worker.divided_steps == 0 || worker.divided_seconds <= 0) continue;
    worker.worker = journal->name();
    TRAINWARDEN_ASSIGN_OR_RETURN(const auto totals, reader.read(kTotal));
    set_shares(worker, totals);
    workers.push_back(std::move(worker));
  }
  return workers;
}

}  // namespace trainwarden::profile
