#include "tune/optuna/past_study.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::tune {
namespace {

Status widen(Hyperparameter& whole, const Hyperparameter& other) {
  if (whole.is_number() != other.is_number()) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("{}: expected one kind of parameter, found {} in one trial and {} in another: rename one in "
                    "Optuna's study, or leave these trials out",
                    printable(whole.name), range_text(whole), range_text(other)));
  }
  if (!whole.is_number()) {
    for (const TriedValue& choice : other.choices) {
      const bool is_new = std::find(whole.choices.begin(), whole.choices.end(), choice) == whole.choices.end();
      if (is_new) whole.choices.push_back(choice);
    }
    return {};
  }
  const double apart = whole.step > 0 ? (whole.min - other.min) / whole.step : 0;
  if (whole.step != other.step || std::abs(apart - std::round(apart)) > 1e-9) whole.step = 0;
  if (whole.kind != other.kind) whole.kind = ParameterKind::kReal, whole.step = 0;
  whole.log = whole.log && other.log;
  whole.min = std::min(whole.min, other.min);
  whole.max = std::max(whole.max, other.max);
  return {};
}

// By name, as read_study_spec() has them.
Result<Space> space_of_trials(const std::vector<OptunaTrial>& trials) {
  std::map<std::string, Hyperparameter, std::less<>> parameters;
  for (const OptunaTrial& trial : trials) {
    for (const auto& [name, parameter] : trial.parameters) {
      const auto [known, is_new] = parameters.emplace(name, parameter.range);
      known->second.optional = true;
      if (!is_new) TRAINWARDEN_RETURN_IF_ERROR(widen(known->second, parameter.range));
      if (parameters.size() <= kMaxParameters) continue;
      return Status(Code::kResourceExhausted, fmt::format("expected at most {} parameters", kMaxParameters));
    }
  }
  if (parameters.empty()) return Space::none();
  std::vector<Hyperparameter> list;
  for (auto& [name, parameter] : parameters) list.push_back(std::move(parameter));
  return Space::make(std::move(list));
}

std::vector<std::string> metric_names(const OptunaStudy& study) {
  const std::size_t count = study.goals.size();
  std::vector<std::string> names = study.metric_names;
  if (count == 1) return names.empty() ? std::vector<std::string>{"value"} : names;
  const bool is_named = !names.empty();
  if (is_named && std::is_sorted(names.begin(), names.end()) &&
      std::adjacent_find(names.begin(), names.end()) == names.end()) {
    return names;
  }
  names.resize(count);
  const int digits = count > 10 ? 2 : 1;
  for (std::size_t i = 0; i < count; ++i) {
    names[i] = is_named ? fmt::format("{:0{}}_{}", i, digits, names[i]) : fmt::format("value_{:0{}}", i, digits);
  }
  return names;
}

TriedValue value_of(const OptunaParameter& parameter, const Space& space) {
  if (!parameter.range.is_number()) return parameter.range.choices[static_cast<std::size_t>(parameter.value)];
  const std::size_t i = *space.find(parameter.range.name);
  if (space[i].kind == ParameterKind::kInteger) return static_cast<std::int64_t>(std::llround(parameter.value));
  return space.nearest(i, parameter.value);
}

// What happened in one trial.
class PastTrial {
 public:
  PastTrial(const PastStudy& past, const OptunaTrial& trial, std::int64_t number, std::int64_t begin_unix_ns)
      : past_(past), trial_(trial), number_(number), begin_unix_ns_(begin_unix_ns) {}

  std::vector<StudyEvent> events() const {
    std::vector<StudyEvent> events = {suggested(), event(StudyEventKind::kStarted)};
    events.back().worker = "optuna";
    for (const auto& [step, value] : trial_.steps) {
      events.push_back(event(StudyEventKind::kReported));
      events.back().step = step;
      events.back().metrics = {{past_.spec.metrics.front().name, value}};
    }
    events.push_back(ended());
    return events;
  }

 private:
  StudyEvent event(StudyEventKind kind) const { return {.kind = kind, .unix_ns = begin_unix_ns_, .trial = number_}; }

  StudyEvent suggested() const {
    StudyEvent suggested = event(StudyEventKind::kSuggested);
    suggested.sampler = "optuna";
    for (const auto& [name, parameter] : trial_.parameters)
      suggested.values[name] = value_of(parameter, past_.spec.space);
    return suggested;
  }

  StudyEvent ended() const {
    StudyEvent ended = event(StudyEventKind::kEnded);
    ended.unix_ns = std::max(begin_unix_ns_, trial_.end_unix_ns);
    ended.seconds = static_cast<double>(ended.unix_ns - begin_unix_ns_) / 1e9;
    ended.attributes = trial_.attributes;
    ended.state = trial_.state;
    if (trial_.state == TrialState::kRunning) {
      ended.state = TrialState::kFailed;
      ended.why = "it was running in Optuna's study when that was imported";
    }
    for (std::size_t i = 0; i < trial_.values.size(); ++i) {
      const std::string& name = past_.spec.metrics[i].name;
      if (!std::isnan(trial_.values[i])) ended.metrics[name] = trial_.values[i];
      if (!std::isnan(trial_.values[i]) || ended.state != TrialState::kComplete) continue;
      ended.state = TrialState::kFailed;
      ended.why = fmt::format("{} is no number", name);
    }
    return ended;
  }

  const PastStudy& past_;
  const OptunaTrial& trial_;
  std::int64_t number_, begin_unix_ns_;
};

}  // namespace

Result<PastStudy> past_of(const OptunaStudy& study, std::int64_t now_unix_ns) {
  PastStudy past{.spec = {.space = Space::none(), .open = true, .metrics = {}}, .events = {}};
  TRAINWARDEN_ASSIGN_OR_RETURN(past.spec.space, space_of_trials(study.trials));
  const std::vector<std::string> names = metric_names(study);
  for (std::size_t i = 0; i < names.size(); ++i)
    past.spec.metrics.push_back({.name = names[i], .goal = study.goals[i]});
  std::int64_t last_unix_ns = 0, number = 0;
  for (const OptunaTrial& trial : study.trials) {
    if (trial.state == TrialState::kWaiting) {
      ++past.left_out;
      continue;
    }
    const std::int64_t known = trial.start_unix_ns > 0 ? trial.start_unix_ns : last_unix_ns;
    const std::int64_t begin = known > 0 ? known : now_unix_ns;
    for (StudyEvent& event : PastTrial(past, trial, number, begin).events()) past.events.push_back(std::move(event));
    last_unix_ns = begin;
    ++number;
  }
  return past;
}

}  // namespace trainwarden::tune
