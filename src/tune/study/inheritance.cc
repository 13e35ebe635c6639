#include "tune/study/inheritance.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::tune {
namespace {

std::optional<std::size_t> index_of_metric(const std::vector<StudyMetric>& metrics, std::string_view name) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].name == name) return i;
  }
  return std::nullopt;
}

std::string_view goal_text(Goal goal) {
  return goal == Goal::kMinimize ? "minimized" : "maximized";
}

// With the first mistake.
Status check_origin_metrics(const StudySpec& spec, const StudySpec& origin) {
  for (const StudyMetric& metric : spec.metrics) {
    if (metric.strategy == Strategy::kStore) continue;
    const auto there = index_of_metric(origin.metrics, metric.name);
    if (!there) {
      std::vector<std::string> names;
      for (const StudyMetric& each : origin.metrics) names.push_back(each.name);
      return Status(Code::kInvalidArgument,
                    fmt::format("from: expected that study {} has the metric {}, found none{}", origin.name,
                                printable(metric.name), did_you_mean(metric.name, names)));
    }
    const Goal goal = origin.metrics[*there].goal;
    if (goal == metric.goal) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("from: expected {} to be {} in study {} as here, found that it is {}",
                              printable(metric.name), goal_text(metric.goal), origin.name, goal_text(goal)));
  }
  return {};
}

// As far as the values before it say.
bool is_wanted(const Hyperparameter& parameter, const TriedValues& values) {
  if (!parameter.when) return true;
  const auto parent = values.find(parameter.when->parameter);
  if (parent == values.end()) return false;
  return std::any_of(parameter.when->values.begin(), parameter.when->values.end(),
                     [&](const TriedValue& value) { return text_of(value) == text_of(parent->second); });
}

Result<TriedValues> fitting_values(const Space& space, TriedValues values) {
  for (const Hyperparameter& parameter : space.parameters()) {
    if (parameter.first && !values.contains(parameter.name) && is_wanted(parameter, values)) {
      values.emplace(parameter.name, *parameter.first);
    }
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(const Point point, space.point_of(values));
  return space.values_of(point);
}

// Metrics of this study by name; of a trial that was pruned the last ones that it has reported.
void copy_metrics(const StudySpec& spec, const StudySpec& origin, const StudyTrial& trial, StudyEvent& event) {
  for (const StudyMetric& metric : spec.metrics) {
    const auto there = index_of_metric(origin.metrics, metric.name);
    if (!there) continue;
    const auto& series = trial.series[*there];
    double value = trial.values[*there];
    if (event.state == TrialState::kPruned && !series.empty()) {
      value = series.back().value;
      event.step = std::max(event.step, series.back().step);
    }
    if (!std::isnan(value)) event.metrics[metric.name] = value;
  }
}

Status check_has_metrics(const StudySpec& spec, const StudyEvent& event) {
  if (event.state != TrialState::kComplete) return {};
  for (const StudyMetric& metric : spec.metrics) {
    if (metric.strategy == Strategy::kStore || event.metrics.contains(metric.name)) continue;
    return Status(Code::kInvalidArgument, fmt::format("it has no {}", printable(metric.name)));
  }
  return {};
}

Result<StudyEvent> inherited_event(const StudySpec& spec, const Origin& origin, std::size_t index, StudyEvent event) {
  const StudyTrial& trial = origin.state.history().trials[index];
  TRAINWARDEN_ASSIGN_OR_RETURN(event.values,
                               fitting_values(spec.space, origin.state.history().space.values_of(trial.point)));
  event.trial = trial.number;
  event.origin = origin.spec.name;
  event.state = trial.state;
  event.by_verdict = trial.ended_by_verdict;
  event.fingerprint = origin.state.record(index).fingerprint;
  copy_metrics(spec, origin.spec, trial, event);
  TRAINWARDEN_RETURN_IF_ERROR(check_has_metrics(spec, event));
  return event;
}

// The newest that fit, in their order.
Result<std::vector<StudyEvent>> events_of(const StudySpec& spec, const Origin& origin, std::size_t most,
                                          const std::function<StudyEvent()>& stamp) {
  TRAINWARDEN_RETURN_IF_ERROR(check_origin_metrics(spec, origin.spec));
  std::vector<StudyEvent> events;
  std::string why = "it has no finished trial";
  const auto& trials = origin.state.history().trials;
  for (std::size_t i = trials.size(); i-- > 0 && events.size() < most;) {
    if (!trials[i].is_over() || trials[i].is_repeat) continue;
    auto event = inherited_event(spec, origin, i, stamp());
    if (event.ok()) {
      events.push_back(*std::move(event));
    } else if (events.empty()) {
      why = fmt::format("trial {}: {}", i, event.status().message());
    }
  }
  if (events.empty()) {
    return Status(Code::kInvalidArgument, fmt::format("from: expected trials of study {} that fit this one's "
                                                      "parameters and metrics, found none: {}",
                                                      origin.spec.name, why));
  }
  std::reverse(events.begin(), events.end());
  return events;
}

}  // namespace

Result<std::vector<StudyEvent>> inherited_events(const StudySpec& spec, const std::vector<Origin>& origins,
                                                 const std::function<StudyEvent()>& stamp) {
  std::vector<StudyEvent> all;
  for (const Origin& origin : origins) {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto events, events_of(spec, origin, kMaxInherited / origins.size(), stamp));
    std::move(events.begin(), events.end(), std::back_inserter(all));
  }
  for (std::size_t i = 0; i < all.size(); ++i) all[i].has_more = i + 1 < all.size();
  return all;
}

}  // namespace trainwarden::tune
