#include "tune/search/space_check.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

namespace trainwarden::tune {
namespace {

constexpr double kMaxWhole = 0x1p53;  // above, doubles are no whole numbers any more
using Mistakes = std::vector<std::string>;

void check_number(const Hyperparameter& parameter, Mistakes& mistakes) {
  const auto add = [&](std::string text) { mistakes.push_back(fmt::format("{}: {}", parameter.name, text)); };
  const auto& [min, max] = std::pair(parameter.min, parameter.max);
  if (!std::isfinite(min) || !std::isfinite(max) || !std::isfinite(max - min)) {
    return add(fmt::format("expected finite ends of the range, found {} and {}", min, max));
  }
  if (min > max) add(fmt::format("expected min <= max, found {} and {}", min, max));
  if (parameter.log && min <= 0) add(fmt::format("expected min > 0 of a logarithmic range, found {}", min));
  if (!std::isfinite(parameter.step) || parameter.step < 0) {
    add(fmt::format("expected a step > 0, found {}", parameter.step));
  } else if (parameter.step > 0 && parameter.log) {
    add("expected a step or a logarithmic range, found both");
  } else if (parameter.step > 0 && (max - min) / parameter.step > kMaxWhole) {
    add(fmt::format("expected fewer than 2^53 steps, found steps of {}", parameter.step));
  }
  if (!parameter.choices.empty()) add("expected a range or choices, found both");
  if (parameter.kind != ParameterKind::kInteger) return;
  if (min != std::floor(min) || max != std::floor(max) || parameter.step != std::floor(parameter.step)) {
    add(fmt::format("expected whole numbers, found min {}, max {}, step {}", min, max, parameter.step));
  }
  if (std::abs(min) > kMaxWhole || std::abs(max) > kMaxWhole) {
    add(fmt::format("expected whole numbers below 2^53, found {} and {}", min, max));
  }
}

void check_choices(const Hyperparameter& parameter, Mistakes& mistakes) {
  const auto add = [&](std::string text) { mistakes.push_back(fmt::format("{}: {}", parameter.name, text)); };
  if (parameter.choices.empty()) add("expected at least one choice, found none");
  if (parameter.choices.size() > kMaxChoices) {
    add(fmt::format("expected at most {} choices, found {}", kMaxChoices, parameter.choices.size()));
  }
  const std::set<TriedValue> different(parameter.choices.begin(), parameter.choices.end());
  if (different.size() < parameter.choices.size()) add("expected different choices, found one twice");
  for (const TriedValue& choice : parameter.choices) {
    const auto* number = std::get_if<double>(&choice);
    if (number != nullptr && !std::isfinite(*number)) add(fmt::format("expected finite choices, found {}", *number));
  }
  if (parameter.log || parameter.step != 0) add("expected choices without log and step");
}

// Can the parameter have this value?
bool can_have(const Hyperparameter& parameter, const TriedValue& value) {
  if (!parameter.is_number()) {
    return std::find(parameter.choices.begin(), parameter.choices.end(), value) != parameter.choices.end();
  }
  const auto* whole = std::get_if<std::int64_t>(&value);
  const auto* real = std::get_if<double>(&value);
  if (whole == nullptr && (real == nullptr || parameter.kind == ParameterKind::kInteger)) return false;
  const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
  if (!(number >= parameter.min && number <= parameter.max)) return false;
  if (parameter.step == 0) return true;
  const double steps = (number - parameter.min) / parameter.step;
  return std::abs(steps - std::round(steps)) < 1e-9 * std::max(1.0, std::abs(steps));
}

void check_condition(const std::vector<Hyperparameter>& parameters, std::size_t i, Mistakes& mistakes) {
  const Hyperparameter& parameter = parameters[i];
  const auto add = [&](std::string text) { mistakes.push_back(fmt::format("{}: {}", parameter.name, text)); };
  const auto end = parameters.begin() + static_cast<std::ptrdiff_t>(i);
  const auto parent = std::find_if(
      parameters.begin(), end, [&](const Hyperparameter& other) { return other.name == parameter.when->parameter; });
  if (parent == end) {
    return add(
        fmt::format("expected a condition on a parameter that stands before it, found {}", parameter.when->parameter));
  }
  if (parent->kind == ParameterKind::kReal && parent->step == 0) {
    return add(fmt::format("expected a condition on whole numbers, steps or choices, found {}", parent->name));
  }
  if (parameter.when->values.empty()) add("expected a value in its condition, found none");
  for (const TriedValue& value : parameter.when->values) {
    if (!can_have(*parent, value)) {
      add(fmt::format("expected a condition on a value that {} can have, found {}", parent->name, text_of(value)));
    }
  }
}

Status as_status(const Mistakes& mistakes) {
  return mistakes.empty() ? Status() : Status(Code::kInvalidArgument, fmt::format("{}", fmt::join(mistakes, "\n")));
}

}  // namespace

Status check_parameters(const std::vector<Hyperparameter>& parameters) {
  Mistakes mistakes;
  if (parameters.empty() || parameters.size() > kMaxParameters) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected 1 to {} parameters, found {}", kMaxParameters, parameters.size()));
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Hyperparameter& parameter = parameters[i];
    if (parameter.name.empty()) mistakes.push_back(fmt::format("parameter {}: expected a name, found none", i));
    if (!names.insert(parameter.name).second) {
      mistakes.push_back(fmt::format("{}: expected different names, found this one twice", parameter.name));
    }
    (parameter.is_number() ? check_number : check_choices)(parameter, mistakes);
    if (parameter.when) check_condition(parameters, i, mistakes);
    if (parameter.first && !can_have(parameter, *parameter.first)) {
      mistakes.push_back(fmt::format("{}: expected a first value that it can have, found {}", parameter.name,
                                     text_of(*parameter.first)));
    }
  }
  return as_status(mistakes);
}

Status check_constraints(const std::vector<Hyperparameter>& parameters, const std::vector<Constraint>& constraints) {
  Mistakes mistakes;
  if (constraints.size() > kMaxConstraints) {
    mistakes.push_back(fmt::format("expected at most {} constraints, found {}", kMaxConstraints, constraints.size()));
  }
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const auto add = [&](std::string text) { mistakes.push_back(fmt::format("constraint {}: {}", i + 1, text)); };
    if (constraints[i].weights.empty()) add("expected a parameter, found none");
    if (!std::isfinite(constraints[i].max)) add(fmt::format("expected a finite bound, found {}", constraints[i].max));
    for (const auto& [name, weight] : constraints[i].weights) {
      const auto found = std::find_if(parameters.begin(), parameters.end(),
                                      [&, wanted = name](const Hyperparameter& each) { return each.name == wanted; });
      if (found == parameters.end()) {
        add(fmt::format("there is no parameter {}", name));
      } else if (!found->is_number()) {
        add(fmt::format("expected numbers, found the choice {}", name));
      }
      if (!std::isfinite(weight)) add(fmt::format("expected a finite weight of {}, found {}", name, weight));
    }
  }
  return as_status(mistakes);
}

}  // namespace trainwarden::tune
