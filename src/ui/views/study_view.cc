#include "ui/views/study_view.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "data/format/json_number.h"
#include "tune/study/study_warnings.h"
#include "ui/views/thinned_steps.h"

namespace trainwarden::views {
namespace {

using format::OrderedJson;
using tune::History;
using tune::Strategy;
using tune::StudyMetric;
using tune::StudyTrial;
using tune::TrialState;

std::string number_text(double value) {
  return fmt::format("{:.6g}", value);
}

// "f1 at least 90.87"
std::string wish_text(const StudyMetric& metric) {
  return fmt::format("{} {} {}", metric.name, metric.goal == tune::Goal::kMaximize ? "at least" : "at most",
                     number_text(*metric.threshold));
}

// All that is asked for.
std::string wishes_text(const History& history) {
  std::vector<std::string> wishes;
  for (const StudyMetric& metric : history.metrics) {
    if (metric.strategy != Strategy::kStore && metric.threshold) wishes.push_back(wish_text(metric));
  }
  return fmt::format("{}", fmt::join(wishes, " and "));
}

// "f1 0.93, time 12": what counts of a trial.
std::string metrics_text(const History& history, const StudyTrial& trial) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    if (history.metrics[i].strategy == Strategy::kStore || std::isnan(trial.values[i])) continue;
    texts.push_back(fmt::format("{} {}", history.metrics[i].name, number_text(trial.values[i])));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

// Of the complete trials the one that misses the constraints by the least.
std::optional<std::size_t> nearest_of(const History& history) {
  std::optional<std::size_t> nearest;
  double least = 0;
  for (std::size_t i = 0; i < history.trials.size(); ++i) {
    if (history.trials[i].state != TrialState::kComplete) continue;
    const double violation = tune::violation_of(history, history.trials[i]);
    if (std::isnan(violation) || (nearest && violation >= least)) continue;
    nearest = i;
    least = violation;
  }
  return nearest;
}

std::string nothing_text(const tune::Study& study) {
  const std::size_t failed = study.state().count(TrialState::kFailed),
                    pruned = study.state().count(TrialState::kPruned);
  if (failed + pruned == 0) return "no trial is complete yet";
  return fmt::format("no trial is complete: {} failed, {} were pruned", failed, pruned);
}

OrderedJson counts_json(const tune::Study& study) {
  OrderedJson counts = OrderedJson::object();
  for (const auto state : {TrialState::kWaiting, TrialState::kRunning, TrialState::kPaused, TrialState::kComplete,
                           TrialState::kPruned, TrialState::kFailed}) {
    counts[std::string(tune::name(state))] = study.state().count(state);
  }
  return counts;
}

OrderedJson steps_json(const std::vector<tune::Intermediate>& series, std::size_t most) {
  std::vector<std::int64_t> kept;
  for (const tune::Intermediate& point : series) kept.push_back(point.step);
  if (most > 0) kept = thinned_steps(kept, most);
  OrderedJson json = OrderedJson::array();
  auto next = kept.begin();
  for (const tune::Intermediate& point : series) {
    if (next == kept.end() || *next != point.step) continue;
    json.push_back({{"step", point.step}, {"value", format::json_number(point.value)}});
    ++next;
  }
  return json;
}

// Of each study that it starts from, how many of its trials.
OrderedJson inherited_json(const tune::Study& study) {
  OrderedJson json = OrderedJson::object();
  for (const tune::InheritedTrial& each : study.state().inherited()) {
    json[each.study] = json.value(each.study, 0) + 1;
  }
  return json;
}

OrderedJson same_as_json(const tune::TrialRecord& record) {
  if (record.same_as < 0) return nullptr;
  return {{"study", record.origin}, {"trial", record.same_as}};
}

OrderedJson outcome_json(const tune::Study& study) {
  const StudyOutcome outcome = outcome_of(study);
  return {{"has_target", outcome.has_target},
          {"is_met", outcome.is_met},
          {"best", outcome.best ? OrderedJson(*outcome.best) : OrderedJson()},
          {"is_feasible", outcome.is_feasible},
          {"front", outcome.front},
          {"sentence", outcome_text(study)}};
}

}  // namespace

StudyOutcome outcome_of(const tune::Study& study) {
  const History& history = study.state().history();
  StudyOutcome outcome{.has_target = study.spec().has_target()};
  outcome.front = tune::pareto_front(history);
  outcome.best = history.objectives().size() == 1 ? tune::best_of(history) : std::nullopt;
  if (!outcome.best && !outcome.front.empty()) outcome.best = outcome.front.front();
  outcome.is_feasible = outcome.best.has_value();
  if (!outcome.best) outcome.best = nearest_of(history);
  outcome.is_met =
      outcome.has_target && std::any_of(history.trials.begin(), history.trials.end(),
                                        [&](const auto& trial) { return tune::meets_target(history, trial); });
  return outcome;
}

std::string outcome_text(const tune::Study& study) {
  const History& history = study.state().history();
  const StudyOutcome outcome = outcome_of(study);
  const std::string missed =
      outcome.has_target ? fmt::format("The target was not met ({}): ", wishes_text(history)) : std::string();
  if (!outcome.best) return missed + nothing_text(study);
  const StudyTrial& best = history.trials[*outcome.best];
  const std::string found = metrics_text(history, best);
  if (outcome.is_met) {
    const auto met = std::find_if(history.trials.begin(), history.trials.end(),
                                  [&](const auto& trial) { return tune::meets_target(history, trial); });
    const StudyTrial& shown = history.objectives().size() == 1 && tune::meets_target(history, best) ? best : *met;
    return fmt::format("The target is met ({}): {} in trial {}", wishes_text(history), metrics_text(history, shown),
                       shown.number);
  }
  if (!outcome.is_feasible)
    return fmt::format("{}no trial keeps to the constraints; nearest is trial {} with {}", missed, best.number, found);
  if (history.objectives().size() > 1) {
    const std::size_t count = outcome.front.size();
    return fmt::format("{}{} on the front, where none is better in everything", missed,
                       count == 1 ? "1 trial is" : fmt::format("{} trials are", count));
  }
  return fmt::format("{}{} {} in trial {}", missed, missed.empty() ? "The best is" : "the best is", found, best.number);
}

std::string standing_text(const tune::Study& study, std::int64_t now_unix_ns) {
  const std::size_t running = study.state().count(TrialState::kRunning),
                    paused = study.state().count(TrialState::kPaused);
  if (study.state().closed()) return "ended: " + *study.state().closed();
  const auto over = tune::end_of_budget(study.spec(), study.state(), study.made_unix_ns(), now_unix_ns);
  if (over && running + paused == 0) return "ended: " + *over;
  return running > 0 ? "running" : "waiting";
}

std::string values_text(const tune::TriedValues& values) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : values) texts.push_back(fmt::format("{}={}", name, tune::text_of(value)));
  return fmt::format("{}", fmt::join(texts, " "));
}

OrderedJson trial_json(const tune::Study& study, std::size_t trial, std::size_t most_steps) {
  const History& history = study.state().history();
  const StudyTrial& one = history.trials[trial];
  const tune::TrialRecord& record = study.state().record(trial);
  OrderedJson values = OrderedJson::object(), wished = OrderedJson::object();
  for (const auto& [name, value] : record.wished) wished[name] = tune::json_of(value);
  OrderedJson metrics = OrderedJson::object(), series = OrderedJson::object();
  for (const auto& [name, value] : history.space.values_of(one.point)) values[name] = tune::json_of(value);
  for (std::size_t i = 0; i < history.metrics.size(); ++i) {
    const std::string& name = history.metrics[i].name;
    if (!std::isnan(one.values[i])) metrics[name] = format::json_number(one.values[i]);
    if (!one.series[i].empty()) series[name] = steps_json(one.series[i], most_steps);
  }
  OrderedJson json = {{"number", one.number},
                      {"state", tune::name(one.state)},
                      {"values", values},
                      {"metrics", metrics},
                      {"series", series},
                      {"sampler", record.sampler},
                      {"worker", record.worker},
                      {"job", record.job},
                      {"attempts", record.attempts},
                      {"fingerprint", record.fingerprint},
                      {"same_as", same_as_json(record)},
                      {"by_verdict", one.ended_by_verdict},
                      {"suggested_unix_ns", record.suggested_unix_ns},
                      {"started_unix_ns", record.started_unix_ns},
                      {"ended_unix_ns", record.ended_unix_ns},
                      {"seconds", format::json_number(record.seconds)},
                      {"why", record.why}};
  if (!record.wished.empty()) json["wished"] = wished;
  if (!record.attributes.empty()) json["attributes"] = tune::attributes_json(record.attributes);
  return json;
}

OrderedJson study_head_json(const tune::Study& study, std::int64_t now_unix_ns) {
  return {{"study", study.spec().name},
          {"made_unix_ns", study.made_unix_ns()},
          {"state", standing_text(study, now_unix_ns)},
          {"outcome", outcome_json(study)},
          {"counts", counts_json(study)},
          {"inherited", inherited_json(study)},
          {"warnings", tune::study_warnings(study.spec(), study.state())},
          {"damaged", study.damaged()}};
}

OrderedJson study_spec_json(const tune::Study& study) {
  tune::StudySpec spec = study.spec();
  spec.space = study.state().history().space;
  return tune::json_of(spec);
}

OrderedJson study_json(const tune::Study& study, std::int64_t now_unix_ns) {
  OrderedJson trials = OrderedJson::array();
  for (std::size_t i = 0; i < study.state().history().trials.size(); ++i) trials.push_back(trial_json(study, i));
  OrderedJson json = study_head_json(study, now_unix_ns);
  json["spec"] = study_spec_json(study);
  json["trials"] = std::move(trials);
  return json;
}

}  // namespace trainwarden::views
