#include "tune/study/study_spec.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "work/document/table_reader.h"

namespace trainwarden::tune {
namespace {

using document::DocumentField;
using document::DocumentValue;
using document::Mistakes;
using document::TableReader;
using format::OrderedJson;

constexpr std::array<const char*, 3> kKinds = {"real", "integer", "choice"};
constexpr std::array<const char*, 2> kGoals = {"minimize", "maximize"};
constexpr std::array<const char*, 2> kRepeats = {"answer", "run"};
constexpr std::array<const char*, 3> kStrategies = {"optimize", "constrain", "store"};
constexpr double kMaxSeconds = 1e9;

bool is_number(const DocumentValue& value) {
  return value.is(DocumentValue::Kind::kInteger) || value.is(DocumentValue::Kind::kNumber);
}

std::optional<double> take_number(TableReader& reader, const char* field) {
  const DocumentValue* const value = reader.take({field});
  if (value == nullptr) return std::nullopt;
  if (is_number(*value)) return value->number;
  reader.wrong_kind(*value, field, "a number");
  return std::nullopt;
}

std::vector<TriedValue> values_in(TableReader& reader, const DocumentValue& list, const char* field) {
  std::vector<TriedValue> values;
  const auto add = [&](const DocumentValue& item) {
    if (auto value = tried_value_of(item)) {
      values.push_back(*std::move(value));
    } else {
      reader.wrong_kind(item, field, "texts, numbers, true or false");
    }
  };
  if (list.is(DocumentValue::Kind::kList)) {
    for (const DocumentValue& item : list.items) add(item);
  } else {
    add(list);
  }
  return values;
}

std::optional<ActiveWhen> condition_in(TableReader& reader) {
  const DocumentValue* const table = reader.table({"when"});
  if (table == nullptr) return std::nullopt;
  if (table->fields.size() != 1) {
    reader.wrong(*table, "when", "expected one parameter with its values, as in {optimizer = [\"sgd\"]}");
    return std::nullopt;
  }
  const auto& [name, values] = table->fields.front();
  return ActiveWhen{name, values_in(reader, values, "when")};
}

// Choices make a choice, two whole ends a whole number, all else a real one, unless `kind` says so.
ParameterKind kind_in(TableReader& reader, bool has_choices, bool is_whole) {
  const auto said = reader.choice({"kind"}, kKinds);
  if (said) return static_cast<ParameterKind>(*said);
  if (has_choices) return ParameterKind::kChoice;
  return is_whole ? ParameterKind::kInteger : ParameterKind::kReal;
}

bool is_whole(const DocumentValue* value) {
  return value == nullptr || value->is(DocumentValue::Kind::kInteger);
}

// By name, but those that a condition names before those that have it: whatever the order of a document, which JSON and
// TOML do not keep, it is the same space. What is left over has a condition that Space::make() refuses.
std::vector<Hyperparameter> in_order(std::vector<Hyperparameter> parameters) {
  std::sort(parameters.begin(), parameters.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::vector<Hyperparameter> ordered;
  const auto is_ready = [&](const Hyperparameter& parameter) {
    return !parameter.when || std::any_of(ordered.begin(), ordered.end(), [&](const Hyperparameter& each) {
      return each.name == parameter.when->parameter;
    });
  };
  while (!parameters.empty()) {
    auto next = std::find_if(parameters.begin(), parameters.end(), is_ready);
    if (next == parameters.end()) next = parameters.begin();
    ordered.push_back(std::move(*next));
    parameters.erase(next);
  }
  return ordered;
}

Goal goal_in(TableReader& reader, const std::string& metric, Mistakes& mistakes) {
  const DocumentValue* const goal = reader.take({"goal", "objective"});
  const std::string word = goal != nullptr && goal->is(DocumentValue::Kind::kText) ? lower(goal->text) : "";
  // "maxmize" is how a document of the Smart Democratization Advisor spells it.
  if (word == kGoals[1] || word == "maxmize") return Goal::kMaximize;
  if (word != kGoals[0]) {
    mistakes.add(goal != nullptr ? goal->place : reader.place(),
                 fmt::format("{}: expected a goal, minimize or maximize, found {}", printable(metric),
                             word.empty() ? "none" : "\"" + printable(word) + "\""));
  }
  return Goal::kMinimize;
}

StudyMetric read_metric(const DocumentField& field, Mistakes& mistakes) {
  StudyMetric metric{.name = field.name};
  if (!field.value.is(DocumentValue::Kind::kTable)) {
    mistakes.add(field.value.place,
                 fmt::format("{}: expected a table, as in {{goal = \"maximize\"}}", printable(field.name)));
    return metric;
  }
  TableReader reader(field.value, mistakes);
  metric.goal = goal_in(reader, field.name, mistakes);
  metric.strategy = static_cast<Strategy>(reader.choice({"strategy"}, kStrategies).value_or(0));
  metric.threshold = take_number(reader, "threshold");
  if (metric.strategy == Strategy::kConstrain && !metric.threshold) {
    mistakes.add(field.value.place,
                 fmt::format("{}: expected a threshold of what is to be kept to", printable(field.name)));
  }
  reader.refuse_rest();
  return metric;
}

// A table of tables, in its order.
template <class Item, class Read>
std::vector<Item> read_named(TableReader& reader, const char* field, bool is_needed, Mistakes& mistakes, Read read) {
  std::vector<Item> items;
  const DocumentValue* const table = reader.table({field});
  if (table == nullptr) {
    if (is_needed) mistakes.add(reader.place(), fmt::format("expected a table `{}`, found none", field));
    return items;
  }
  for (const DocumentField& each : table->fields) items.push_back(read(each, mistakes));
  return items;
}

Constraint read_constraint(const DocumentValue& table, Mistakes& mistakes) {
  Constraint constraint;
  TableReader reader(table, mistakes);
  if (const DocumentValue* const weights = reader.table({"weights"})) {
    for (const auto& [name, weight] : weights->fields) {
      if (is_number(weight)) {
        constraint.weights[name] = weight.number;
      } else {
        reader.wrong_kind(weight, name, "a number");
      }
    }
  }
  const auto max = take_number(reader, "max");
  if (!max) mistakes.add(table.place, "expected max, which the sum of weight * value may not exceed");
  constraint.max = max.value_or(0);
  reader.refuse_rest();
  return constraint;
}

std::vector<Constraint> read_constraints(TableReader& reader, Mistakes& mistakes) {
  std::vector<Constraint> constraints;
  const DocumentValue* const list = reader.take({"constraints"});
  if (list == nullptr) return constraints;
  if (!list->is(DocumentValue::Kind::kList)) reader.wrong_kind(*list, "constraints", "a list of tables");
  for (const DocumentValue& item : list->items) {
    if (item.is(DocumentValue::Kind::kTable)) {
      constraints.push_back(read_constraint(item, mistakes));
    } else {
      reader.wrong_kind(item, "constraints", "a list of tables");
    }
  }
  return constraints;
}

// Nothing when it has mistakes.
std::optional<Space> read_space(TableReader& reader, bool open, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  auto parameters = read_named<Hyperparameter>(reader, "parameters", !open, mistakes, read_hyperparameter);
  auto constraints = read_constraints(reader, mistakes);
  // What is wrong with parameters one by one would be told a second time by their space.
  if (mistakes.count() > before) return std::nullopt;
  if (open && parameters.empty() && constraints.empty()) return Space::none();
  auto space = Space::make(in_order(std::move(parameters)), std::move(constraints));
  if (space.ok()) return *std::move(space);
  for (const std::string& line : split_list(space.status().message(), '\n')) {
    mistakes.add(reader.place_of("parameters"), line);
  }
  return std::nullopt;
}

StudyBudget read_budget(TableReader& top, Mistakes& mistakes) {
  StudyBudget budget;
  const DocumentValue* const table = top.table({"budget"});
  if (table == nullptr) return budget;
  TableReader reader(*table, mistakes);
  budget.trials = reader.integer({"trials"}, 1, kMaxTrials);
  budget.wall_seconds = reader.seconds({"wall"}, 0, kMaxSeconds);
  budget.trial_seconds = reader.seconds({"trial_time"}, 0, kMaxSeconds);
  budget.stagnation = reader.integer({"stagnation"}, 1, kMaxTrials);
  budget.at_target = reader.boolean({"stop_at_target"}).value_or(true);
  budget.regret = take_number(reader, "regret");
  if (budget.regret && !(*budget.regret > 0)) {
    mistakes.add(
        reader.place_of("regret"),
        fmt::format("budget.regret: expected a number above 0, in the metric's unit, found {}", *budget.regret));
  }
  reader.refuse_rest();
  return budget;
}

void check_metrics(const std::vector<StudyMetric>& metrics, const std::string& place, Mistakes& mistakes) {
  const auto objectives = std::count_if(metrics.begin(), metrics.end(),
                                        [](const StudyMetric& each) { return each.strategy == Strategy::kOptimize; });
  if (objectives == 0) mistakes.add(place, "metrics: expected one to optimize, found none");
  if (metrics.size() > kMaxStudyMetrics) {
    mistakes.add(place, fmt::format("metrics: expected at most {}, found {}", kMaxStudyMetrics, metrics.size()));
  }
}

OrderedJson metric_json(const StudyMetric& metric) {
  OrderedJson json = {{"goal", kGoals[static_cast<std::size_t>(metric.goal)]},
                      {"strategy", kStrategies[static_cast<std::size_t>(metric.strategy)]}};
  if (metric.threshold) json["threshold"] = *metric.threshold;
  return json;
}

OrderedJson budget_json(const StudyBudget& budget) {
  OrderedJson json = OrderedJson::object();
  if (budget.trials) json["trials"] = *budget.trials;
  if (budget.wall_seconds) json["wall"] = *budget.wall_seconds;
  if (budget.trial_seconds) json["trial_time"] = *budget.trial_seconds;
  if (budget.stagnation) json["stagnation"] = *budget.stagnation;
  json["stop_at_target"] = budget.at_target;
  if (budget.regret) json["regret"] = *budget.regret;
  return json;
}

std::vector<std::string> read_origins(TableReader& reader, Mistakes& mistakes) {
  std::vector<std::string> names = reader.texts({"from"});
  if (names.size() > kMaxOrigins) {
    mistakes.add(reader.place_of("from"),
                 fmt::format("from: expected at most {} studies, found {}", kMaxOrigins, names.size()));
  }
  return names;
}

// Everything but the space, which is made of what was read.
void read_rest(TableReader& reader, Mistakes& mistakes, StudySpec& spec) {
  spec.name = reader.text({"name"}).value_or("");
  if (!spec.name.empty() && !is_study_name(spec.name)) {
    mistakes.add(
        reader.place_of("name"),
        fmt::format("name: expected letters and digits with single hyphens between them, at most {}, found \"{}\"",
                    kMaxStudyNameBytes, printable(spec.name)));
  }
  spec.sampler = reader.text({"sampler"}).value_or(spec.sampler);
  spec.pruner = reader.text({"pruner"}).value_or(spec.pruner);
  spec.ends_by_verdict = reader.boolean({"end_by_verdict"}).value_or(true);
  constexpr std::int64_t kMaxSeed = std::int64_t{1} << 53;
  spec.seed = static_cast<std::uint64_t>(reader.integer({"seed"}, 0, kMaxSeed).value_or(0));
  spec.parallel = reader.integer({"parallel"}, 1, kMaxParallel).value_or(1);
  spec.job = reader.text({"job"}).value_or("");
  spec.budget = read_budget(reader, mistakes);
  spec.repeats = static_cast<Repeats>(reader.choice({"repeats"}, kRepeats).value_or(0));
  spec.from = read_origins(reader, mistakes);
}

}  // namespace

bool StudySpec::has_target() const {
  return std::any_of(metrics.begin(), metrics.end(), [](const StudyMetric& metric) {
    return metric.strategy != Strategy::kStore && metric.threshold.has_value();
  });
}

std::optional<StudySpec> read_study_spec(const DocumentValue& top, Mistakes& mistakes) {
  const std::size_t before = mistakes.count();
  TableReader reader(top, mistakes);
  const bool open = reader.boolean({"open"}).value_or(false);
  const auto space = read_space(reader, open, mistakes);
  StudySpec spec{.space = space.value_or(Space::none()), .open = open, .metrics = {}, .place = top.place};
  spec.metrics = read_named<StudyMetric>(reader, "metrics", true, mistakes, read_metric);
  std::sort(spec.metrics.begin(), spec.metrics.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  check_metrics(spec.metrics, reader.place_of("metrics"), mistakes);
  read_rest(reader, mistakes, spec);
  if (open && !spec.job.empty()) {
    mistakes.add(reader.place_of("open"), "open: expected no job: who runs the trials says which parameters there are");
  }
  reader.refuse_rest();
  return mistakes.count() == before ? std::optional(std::move(spec)) : std::nullopt;
}

Hyperparameter read_hyperparameter(const DocumentField& field, Mistakes& mistakes) {
  Hyperparameter parameter{.name = field.name};
  const DocumentValue& table = field.value;
  if (!table.is(DocumentValue::Kind::kTable)) {
    mistakes.add(table.place, fmt::format("{}: expected a table, as in {{min = 0, max = 1}} or {{choices = [1, 2]}}",
                                          printable(field.name)));
    return parameter;
  }
  TableReader reader(table, mistakes);
  const auto find = [&](std::string_view wanted) -> const DocumentValue* {
    for (const auto& [name, value] : table.fields) {
      if (document::plain_name(name) == wanted) return &value;
    }
    return nullptr;
  };
  const DocumentValue* const choices = reader.take({"choices", "grid"});
  if (choices != nullptr) parameter.choices = values_in(reader, *choices, "choices");
  const bool whole = is_whole(find("min")) && is_whole(find("max")) && is_whole(find("step"));
  parameter.kind = kind_in(reader, choices != nullptr, whole);
  const auto min = take_number(reader, "min"), max = take_number(reader, "max");
  if (parameter.is_number() && (!min || !max)) {
    mistakes.add(table.place, fmt::format("{}: expected min and max, or choices", printable(field.name)));
  }
  parameter.min = min.value_or(0);
  parameter.max = max.value_or(parameter.min);
  parameter.step = take_number(reader, "step").value_or(0);
  parameter.log = reader.boolean({"log"}).value_or(false);
  parameter.ordered = reader.boolean({"ordered"}).value_or(false);
  parameter.when = condition_in(reader);
  if (const DocumentValue* const first = reader.take({"first"})) parameter.first = tried_value_of(*first);
  parameter.optional = reader.boolean({"optional"}).value_or(false);
  reader.refuse_rest();
  return parameter;
}

OrderedJson json_of(const Hyperparameter& parameter) {
  OrderedJson json = {{"kind", kKinds[static_cast<std::size_t>(parameter.kind)]}};
  if (parameter.is_number()) {
    json["min"] = parameter.min;
    json["max"] = parameter.max;
    if (parameter.step > 0) json["step"] = parameter.step;
    if (parameter.log) json["log"] = true;
  } else {
    json["choices"] = OrderedJson::array();
    for (const TriedValue& choice : parameter.choices) json["choices"].push_back(json_of(choice));
    if (parameter.ordered) json["ordered"] = true;
  }
  if (parameter.when) {
    OrderedJson values = OrderedJson::array();
    for (const TriedValue& value : parameter.when->values) values.push_back(json_of(value));
    json["when"] = {{parameter.when->parameter, std::move(values)}};
  }
  if (parameter.first) json["first"] = json_of(*parameter.first);
  if (parameter.optional) json["optional"] = true;
  return json;
}

OrderedJson json_of(const StudySpec& spec) {
  OrderedJson json = {{"name", spec.name}, {"parameters", OrderedJson::object()}};
  for (const Hyperparameter& parameter : spec.space.parameters())
    json["parameters"][parameter.name] = json_of(parameter);
  if (spec.open) json["open"] = true;
  if (!spec.space.constraints().empty()) json["constraints"] = OrderedJson::array();
  for (const Constraint& constraint : spec.space.constraints()) {
    json["constraints"].push_back({{"weights", constraint.weights}, {"max", constraint.max}});
  }
  json["metrics"] = OrderedJson::object();
  for (const StudyMetric& metric : spec.metrics) json["metrics"][metric.name] = metric_json(metric);
  json["sampler"] = spec.sampler;
  json["pruner"] = spec.pruner;
  json["end_by_verdict"] = spec.ends_by_verdict;
  json["seed"] = spec.seed;
  json["budget"] = budget_json(spec.budget);
  json["parallel"] = spec.parallel;
  json["repeats"] = kRepeats[static_cast<std::size_t>(spec.repeats)];
  if (!spec.from.empty()) json["from"] = spec.from;
  if (!spec.job.empty()) json["job"] = spec.job;
  return json;
}

OrderedJson json_of(const TriedValue& value) {
  return std::visit([](const auto& each) { return OrderedJson(each); }, value);
}

std::optional<TriedValue> tried_value_of(const DocumentValue& value) {
  switch (value.kind) {
    case DocumentValue::Kind::kText: return TriedValue(value.text);
    case DocumentValue::Kind::kInteger: return TriedValue(value.integer);
    case DocumentValue::Kind::kNumber: return TriedValue(value.number);
    case DocumentValue::Kind::kBoolean: return TriedValue(value.boolean);
    default: return std::nullopt;
  }
}

bool is_study_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (name.empty() || name.size() > kMaxStudyNameBytes || !is_letter(name.front()) || !is_letter(name.back()))
    return false;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (!is_letter(name[i]) && (name[i] != '-' || name[i - 1] == '-')) return false;
  }
  return true;
}

}  // namespace trainwarden::tune
