#include "tune/optuna/distribution.h"

#include <cmath>

#include <fmt/format.h>

#include "core/base/text.h"
#include "tune/optuna/python_json.h"

namespace trainwarden::tune {
namespace {

using format::Json;

// Of those with a range.
struct RangeWord {
  std::string_view name;
  ParameterKind kind;
  bool is_log;           // "log" says so where it is false
  const char* step_key;  // null: it has none
};

constexpr RangeWord kRangeWords[] = {
    {"FloatDistribution", ParameterKind::kReal, false, "step"},
    {"IntDistribution", ParameterKind::kInteger, false, "step"},
    {"UniformDistribution", ParameterKind::kReal, false, nullptr},
    {"LogUniformDistribution", ParameterKind::kReal, true, nullptr},
    {"DiscreteUniformDistribution", ParameterKind::kReal, false, "q"},
    {"IntUniformDistribution", ParameterKind::kInteger, false, "step"},
    {"IntLogUniformDistribution", ParameterKind::kInteger, true, "step"},
};

Status odd(const std::string& name, std::string_view what) {
  return Status(Code::kDataLoss, fmt::format("{}: {}", printable(name), what));
}

std::optional<TriedValue> choice_of(const Json& json) {
  if (json.is_null()) return TriedValue("None");
  if (json.is_string()) return TriedValue(json.get<std::string>());
  if (json.is_boolean()) return TriedValue(json.get<bool>());
  if (json.is_number_integer()) return TriedValue(json.get<std::int64_t>());
  if (json.is_number_float()) return TriedValue(json.get<double>());
  return std::nullopt;
}

Result<Hyperparameter> choices_of(std::string name, const Json& attributes) {
  Hyperparameter parameter{.name = std::move(name), .kind = ParameterKind::kChoice};
  const auto choices = attributes.find("choices");
  if (choices == attributes.end() || !choices->is_array() || choices->size() > kMaxChoices) {
    return odd(parameter.name, fmt::format("expected at most {} choices", kMaxChoices));
  }
  for (const Json& each : *choices) {
    const auto choice = choice_of(each);
    if (!choice) return odd(parameter.name, "expected choices that are texts, numbers, true, false or null");
    parameter.choices.push_back(*choice);
  }
  return parameter;
}

Result<double> number_in(const std::string& name, const Json& attributes, const char* key) {
  const auto found = attributes.find(key);
  if (found != attributes.end() && found->is_number()) return found->get<double>();
  return odd(name, fmt::format("expected a number {} in its distribution", key));
}

Result<Hyperparameter> range_of(std::string name, const RangeWord& word, const Json& attributes) {
  Hyperparameter parameter{.name = std::move(name), .kind = word.kind};
  TRAINWARDEN_ASSIGN_OR_RETURN(parameter.min, number_in(parameter.name, attributes, "low"));
  TRAINWARDEN_ASSIGN_OR_RETURN(parameter.max, number_in(parameter.name, attributes, "high"));
  const auto log = attributes.find("log");
  parameter.log = word.is_log || (log != attributes.end() && log->is_boolean() && log->get<bool>());
  const auto step = word.step_key != nullptr ? attributes.find(word.step_key) : attributes.end();
  const bool has_step = step != attributes.end() && step->is_number() && !parameter.log;
  if (has_step) parameter.step = step->get<double>();
  if (parameter.kind == ParameterKind::kInteger && parameter.step == 1) parameter.step = 0;
  return parameter;
}

}  // namespace

Result<Hyperparameter> parameter_of_distribution(std::string name, std::string_view distribution) {
  const auto json = python_object(distribution, "distribution");
  if (!json.ok()) return odd(name, json.status().message());
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string kind, format::string_field(*json, "name"));
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json* const attributes, format::object_field(*json, "attributes"));
  auto parameter = Result<Hyperparameter>(odd(name, fmt::format("no distribution of Optuna is {}", printable(kind))));
  if (kind == "CategoricalDistribution") parameter = choices_of(name, *attributes);
  for (const RangeWord& word : kRangeWords) {
    if (word.name == kind) parameter = range_of(name, word, *attributes);
  }
  if (!parameter.ok()) return parameter;
  const auto space = Space::make({*parameter});
  if (!space.ok()) return Status(Code::kDataLoss, space.status().message());
  return parameter;
}

Status add_parameter(OptunaTrial& trial, const std::string& name, double value, std::string_view distribution) {
  TRAINWARDEN_ASSIGN_OR_RETURN(Hyperparameter range, parameter_of_distribution(name, distribution));
  const double first = range.is_number() ? range.min : 0;
  const double last = range.is_number() ? range.max : static_cast<double>(range.choices.size()) - 1;
  const double slack = range.is_number() ? 1e-9 * std::max(std::abs(first), std::abs(last)) : 0;  // of Optuna's steps
  const bool is_whole = range.kind == ParameterKind::kReal || value == std::floor(value);
  if (!(value >= first - slack && value <= last + slack) || !is_whole) {
    return odd(name, fmt::format("expected a value from {} to {}, found {}", first, last, value));
  }
  if (trial.parameters.size() >= kMaxParameters)
    return odd(name, fmt::format("a trial has more than {}", kMaxParameters));
  trial.parameters[name] = {std::move(range), value};
  return {};
}

}  // namespace trainwarden::tune
