#include "tune/study/study_state.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "core/base/text.h"
#include "tune/search/space_extension.h"
#include "tune/study/inheritance.h"
#include "tune/study/repeats.h"

namespace trainwarden::tune {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kMaxSeriesPoints = 100'000;  // of one metric of one trial

Status refuse(std::string message) {
  return Status(Code::kFailedPrecondition, std::move(message));
}

std::optional<std::size_t> metric_named(const History& history, std::string_view name) {
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    if (history.metrics[i].name == name) return i;
  }
  return std::nullopt;
}

bool are_same(double one, double other) {
  return one == other || (std::isnan(one) && std::isnan(other));
}

}  // namespace

StudyState::StudyState(const StudySpec& spec)
    : history_{.space = spec.space, .metrics = spec.metrics, .trials = {}, .seed = spec.seed}, open_(spec.open) {}

Status StudyState::check_trial(const StudyEvent& event) const {
  const auto count = static_cast<std::int64_t>(history_.trials.size());
  if (event.kind == StudyEventKind::kInherited) return check_inherited(event);
  if (event.kind == StudyEventKind::kSuggested) {
    if (event.trial != count) return refuse(fmt::format("expected trial {} next, found {}", count, event.trial));
    if (closed_) return refuse(fmt::format("the study takes no more trials: {}", *closed_));
    return point_of(event.values).status();
  }
  if (event.trial >= count) return refuse(fmt::format("there is no trial {}: there are {}", event.trial, count));
  const auto index = static_cast<std::size_t>(event.trial);
  const StudyTrial& trial = history_.trials[index];
  if (trial.is_over()) {
    return refuse(fmt::format("trial {} has ended already ({}{}{})", event.trial, name(trial.state),
                              records_[index].why.empty() ? "" : ": ", records_[index].why));
  }
  const bool is_running = trial.state == TrialState::kRunning, is_paused = trial.state == TrialState::kPaused;
  if (event.kind == StudyEventKind::kPromoted && is_paused) return {};
  const bool needs_worker = event.kind != StudyEventKind::kStarted && event.kind != StudyEventKind::kEnded;
  if (needs_worker && !is_running) {
    return refuse(fmt::format("trial {} {}", event.trial, is_paused ? "is paused" : "was not started"));
  }
  return event.kind == StudyEventKind::kExtended ? check_extension(event) : Status();
}

// Of an open study, what it does not know yet may be named.
Result<Point> StudyState::point_of(const TriedValues& values) const {
  if (!open_) return history_.space.point_of(values);
  TriedValues known = values;
  std::erase_if(known, [this](const auto& each) { return !history_.space.find(each.first); });
  return history_.space.point_of(known);
}

Status StudyState::check_extension(const StudyEvent& event) const {
  const std::string name = printable(event.parameter->name);
  if (!open_) {
    return refuse(
        fmt::format("the study has no parameter \"{}\" and takes none: `open = true` in its file lets trials "
                    "ask for what they need",
                    name));
  }
  TRAINWARDEN_RETURN_IF_ERROR(history_.space.extended(*event.parameter).status());
  const auto value = event.values.find(event.parameter->name);
  if (value != event.values.end() && fitted_value(*event.parameter, value->second)) return {};
  return refuse(fmt::format("{}: expected its value, which is {}", name, range_text(*event.parameter)));
}

Status StudyState::check_inherited(const StudyEvent& event) const {
  if (has_inherited_all_ || !history_.trials.empty()) return refuse("trials are inherited before the first one alone");
  if (inherited_.size() >= kMaxInherited) return refuse(fmt::format("more than {} inherited trials", kMaxInherited));
  return history_.space.point_of(event.values).status();
}

Status StudyState::check_metrics(const StudyEvent& event) const {
  for (const auto& [metric, value] : event.metrics) {
    if (metric_named(history_, metric)) continue;
    std::vector<std::string> names;
    for (const StudyMetric& each : history_.metrics) names.push_back(each.name);
    return refuse(fmt::format("the study has no metric \"{}\"{}", printable(metric), did_you_mean(metric, names)));
  }
  if (event.kind == StudyEventKind::kReported) {
    if (event.metrics.empty()) return refuse("expected a metric, found none");
    const StudyTrial& trial = history_.trials[static_cast<std::size_t>(event.trial)];
    for (const auto& [metric, value] : event.metrics) {
      const auto& series = trial.series[*metric_named(history_, metric)];
      if (series.size() >= kMaxSeriesPoints) return refuse(fmt::format("trial {} has reported too often", event.trial));
      if (!series.empty() && series.back().step > event.step) {
        return refuse(fmt::format("trial {}: expected steps that rise, found {} after {}", event.trial, event.step,
                                  series.back().step));
      }
      if (!series.empty() && series.back().step == event.step && !are_same(series.back().value, value)) {
        return refuse(fmt::format("trial {} has reported {} at step {} already: {}, now {}", event.trial,
                                  printable(metric), event.step, series.back().value, value));
      }
    }
  }
  const bool has_ended = event.kind == StudyEventKind::kEnded || event.kind == StudyEventKind::kInherited;
  if (!has_ended || event.state != TrialState::kComplete) return {};
  if (event.by_verdict) return refuse("expected a trial that a verdict ended to be pruned or failed, found complete");
  for (const StudyMetric& metric : history_.metrics) {
    if (metric.strategy == Strategy::kStore) continue;
    const auto found = event.metrics.find(metric.name);
    if (found == event.metrics.end()) return refuse(fmt::format("expected the metric {}, found none", metric.name));
    if (std::isnan(found->second)) return refuse(fmt::format("expected a number of {}, found NaN", metric.name));
  }
  return {};
}

Status StudyState::check(const StudyEvent& event) const {
  if (event.kind == StudyEventKind::kClosed || event.kind == StudyEventKind::kReopened) return {};
  TRAINWARDEN_RETURN_IF_ERROR(check_trial(event));
  return check_metrics(event);
}

Status StudyState::apply(const StudyEvent& event) {
  TRAINWARDEN_RETURN_IF_ERROR(check(event));
  last_unix_ns_ = std::max(last_unix_ns_, event.unix_ns);
  const auto index = static_cast<std::size_t>(event.trial);
  switch (event.kind) {
    case StudyEventKind::kSuggested: suggest(event); break;
    case StudyEventKind::kStarted:
      history_.trials[index].state = TrialState::kRunning;
      records_[index].worker = event.worker;
      records_[index].job = event.job;
      records_[index].fingerprint = event.fingerprint;
      records_[index].started_unix_ns = event.unix_ns;
      records_[index].lease_unix_ns = event.lease_unix_ns;
      ++records_[index].attempts;
      break;
    case StudyEventKind::kBeat: records_[index].lease_unix_ns = event.lease_unix_ns; break;
    case StudyEventKind::kReported: report(event); break;
    case StudyEventKind::kPaused: pause(event); break;
    case StudyEventKind::kPromoted: promote(event); break;
    case StudyEventKind::kEnded: end(event); break;
    case StudyEventKind::kInherited: inherit(event); break;
    case StudyEventKind::kExtended: extend(event); break;
    case StudyEventKind::kClosed: closed_ = event.why; break;
    case StudyEventKind::kReopened:
      closed_.reset();
      without_gain_ = 0;
      break;
  }
  return {};
}

void StudyState::suggest(const StudyEvent& event) {
  StudyTrial trial{.number = event.trial,
                   .point = *point_of(event.values),
                   .values = std::vector<double>(history_.metrics.size(), kNaN),
                   .series = std::vector<std::vector<Intermediate>>(history_.metrics.size()),
                   .notes = event.notes};
  history_.trials.push_back(std::move(trial));
  records_.push_back({.sampler = event.sampler, .suggested_unix_ns = event.unix_ns});
  for (const auto& [name, value] : event.values) {
    if (!history_.space.find(name)) records_.back().wished[name] = value;
  }
}

void StudyState::extend(const StudyEvent& event) {
  history_.space = *history_.space.extended(*event.parameter);
  for (StudyTrial& trial : history_.trials) trial.point.resize(history_.space.size(), kNaN);
  for (InheritedTrial& each : inherited_) each.trial.point.resize(history_.space.size(), kNaN);
  const std::string& name = event.parameter->name;
  const std::size_t i = *history_.space.find(name);
  history_.trials[static_cast<std::size_t>(event.trial)].point[i] =
      as_coordinate(history_.space[i], event.values.at(name));
}

void StudyState::inherit(const StudyEvent& event) {
  StudyTrial trial{.number = -1,
                   .point = *history_.space.point_of(event.values),
                   .state = event.state,
                   .values = std::vector<double>(history_.metrics.size(), kNaN),
                   .series = std::vector<std::vector<Intermediate>>(history_.metrics.size()),
                   .notes = {},
                   .ended_by_verdict = event.by_verdict};
  for (const auto& [metric, value] : event.metrics) {
    const std::size_t i = *metric_named(history_, metric);
    trial.values[i] = value;
    if (event.state == TrialState::kPruned) trial.series[i].push_back({event.step, value});
  }
  inherited_.push_back({event.origin, event.trial, event.fingerprint, std::move(trial)});
  has_inherited_all_ = !event.has_more;
}

History StudyState::searched() const {
  History history{.space = history_.space, .metrics = history_.metrics, .trials = {}, .seed = history_.seed};
  history.trials.reserve(inherited_.size() + history_.trials.size());
  auto number = -static_cast<std::int64_t>(inherited_.size());
  for (const InheritedTrial& each : inherited_) {
    history.trials.push_back(each.trial);
    history.trials.back().number = number++;
  }
  history.trials.insert(history.trials.end(), history_.trials.begin(), history_.trials.end());
  return history;
}

void StudyState::report(const StudyEvent& event) {
  StudyTrial& trial = history_.trials[static_cast<std::size_t>(event.trial)];
  if (event.lease_unix_ns > 0) records_[static_cast<std::size_t>(event.trial)].lease_unix_ns = event.lease_unix_ns;
  for (const auto& [metric, value] : event.metrics) {
    auto& series = trial.series[*metric_named(history_, metric)];
    if (series.empty() || series.back().step < event.step) series.push_back({event.step, value});
  }
}

void StudyState::pause(const StudyEvent& event) {
  const auto index = static_cast<std::size_t>(event.trial);
  history_.trials[index].state = TrialState::kPaused;
  records_[index].why = event.why;
  records_[index].lease_unix_ns = 0;
}

// One that runs has passed a rung without a pause.
void StudyState::promote(const StudyEvent& event) {
  const auto index = static_cast<std::size_t>(event.trial);
  StudyTrial& trial = history_.trials[index];
  trial.passed_rung = std::max(trial.passed_rung, event.step);
  if (trial.state != TrialState::kPaused) return;
  trial.state = TrialState::kRunning;
  records_[index].worker = event.worker;
  records_[index].why.clear();
}

void StudyState::end(const StudyEvent& event) {
  const auto index = static_cast<std::size_t>(event.trial);
  StudyTrial& trial = history_.trials[index];
  for (const auto& [metric, value] : event.metrics) trial.values[*metric_named(history_, metric)] = value;
  trial.state = event.state;
  trial.ended_by_verdict = event.by_verdict;
  // What had no effect is not to be learnt from.
  for (const std::string& each : event.unused) {
    const auto i = history_.space.find(each);
    if (i && history_.space[*i].optional) trial.point[*i] = kNaN;
  }
  TrialRecord& record = records_[index];
  record.ended_unix_ns = event.unix_ns;
  record.why = event.why;
  record.seconds = event.seconds;
  if (event.same_as >= 0) {
    trial.is_repeat = true;
    record.same_as = event.same_as;
    record.origin = event.origin;
    record.fingerprint = event.fingerprint;
  }
  record.attributes = event.attributes;
  record.lease_unix_ns = 0;
  trial_seconds_ += event.seconds;
  without_gain_ = enter_front(index) ? 0 : without_gain_ + 1;
}

bool StudyState::enter_front(std::size_t trial) {
  if (!is_feasible(history_, history_.trials[trial])) return false;
  const auto is_as_good = [&](std::size_t one, std::size_t other) {
    const auto objectives = history_.objectives();
    return std::all_of(objectives.begin(), objectives.end(), [&](std::size_t metric) {
      const StudyMetric& kind = history_.metrics[metric];
      return kind.cost(history_.trials[one].values[metric]) <= kind.cost(history_.trials[other].values[metric]);
    });
  };
  if (std::any_of(front_.begin(), front_.end(), [&](std::size_t other) { return is_as_good(other, trial); }))
    return false;
  std::erase_if(front_, [&](std::size_t other) { return is_as_good(trial, other); });
  front_.push_back(trial);
  return true;
}

std::size_t StudyState::count(TrialState state) const {
  return static_cast<std::size_t>(std::count_if(history_.trials.begin(), history_.trials.end(),
                                                [&](const StudyTrial& trial) { return trial.state == state; }));
}

std::vector<std::size_t> StudyState::lost(std::int64_t now_unix_ns) const {
  std::vector<std::size_t> lost;
  for (std::size_t i = 0; i < records_.size(); ++i) {
    const std::int64_t lease = records_[i].lease_unix_ns;
    if (history_.trials[i].state == TrialState::kRunning && lease > 0 && lease < now_unix_ns) lost.push_back(i);
  }
  return lost;
}

bool meets_target(const History& history, const StudyTrial& trial) {
  if (!is_feasible(history, trial)) return false;
  const auto objectives = history.objectives();
  return std::all_of(objectives.begin(), objectives.end(), [&](std::size_t i) {
    const StudyMetric& metric = history.metrics[i];
    return !metric.threshold || metric.cost(trial.values[i]) <= metric.cost(*metric.threshold);
  });
}

std::optional<std::string> end_of_promotions(const StudySpec& spec, const StudyState& state, std::int64_t made_unix_ns,
                                             std::int64_t now_unix_ns) {
  const History& history = state.history();
  const bool has_objective_target = std::any_of(spec.metrics.begin(), spec.metrics.end(), [](const StudyMetric& each) {
    return each.strategy == Strategy::kOptimize && each.threshold;
  });
  if (spec.budget.at_target && has_objective_target) {
    for (const StudyTrial& trial : history.trials) {
      if (meets_target(history, trial)) return fmt::format("trial {} meets the target", trial.number);
    }
  }
  if (spec.budget.wall_seconds && static_cast<double>(now_unix_ns - made_unix_ns) / 1e9 >= *spec.budget.wall_seconds) {
    return fmt::format("its {} are over",
                       format_duration_ns(static_cast<std::int64_t>(*spec.budget.wall_seconds * 1e9)));
  }
  if (spec.budget.trial_seconds && state.trial_seconds() >= *spec.budget.trial_seconds) {
    return fmt::format("its trials have taken {}",
                       format_duration_ns(static_cast<std::int64_t>(state.trial_seconds() * 1e9)));
  }
  if (const std::int64_t repeats = repeats_in_row(state); repeats >= kMaxRepeatsInRow) {
    return fmt::format(
        "its sampler suggested {} times in a row what had been tried (`repeats = \"run\"` runs it again)", repeats);
  }
  if (spec.budget.stagnation && state.trials_without_gain() >= *spec.budget.stagnation) {
    return fmt::format("{} trials in a row were no better", state.trials_without_gain());
  }
  return std::nullopt;
}

std::optional<std::string> end_of_budget(const StudySpec& spec, const StudyState& state, std::int64_t made_unix_ns,
                                         std::int64_t now_unix_ns) {
  if (auto why = end_of_promotions(spec, state, made_unix_ns, now_unix_ns)) return why;
  if (spec.budget.trials && static_cast<std::int64_t>(state.history().trials.size()) >= *spec.budget.trials) {
    return fmt::format("its {} trials have been made", *spec.budget.trials);
  }
  return std::nullopt;
}

}  // namespace trainwarden::tune
