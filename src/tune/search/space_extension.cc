#include "tune/search/space_extension.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tune/search/random.h"

namespace trainwarden::tune {
namespace {

std::string asked_text(const Hyperparameter& parameter) {
  return range_text(parameter) + (parameter.log ? ", logarithmic" : "");
}

Status unlike(const Hyperparameter& known, const Hyperparameter& asked, std::string_view rule) {
  return Status(Code::kFailedPrecondition, fmt::format("{}: it is {} in this study, and a trial asks for {}: {}",
                                                       asked.name, asked_text(known), asked_text(asked), rule));
}

bool have_same_steps(const Hyperparameter& one, const Hyperparameter& other) {
  if (one.step != other.step || one.step == 0) return one.step == other.step;
  const double apart = (one.min - other.min) / one.step;
  return std::abs(apart - std::round(apart)) < 1e-9 * std::max(1.0, std::abs(apart));
}

bool are_same_numbers(const Hyperparameter& one, const Hyperparameter& other) {
  return one.kind == other.kind && one.log == other.log && one.min == other.min && one.max == other.max &&
         one.step == other.step;
}

// Of this parameter alone.
Result<Space> space_of(const Hyperparameter& parameter) {
  Hyperparameter alone = parameter;
  alone.when.reset();
  return Space::make({alone});
}

// FNV-1a, 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

Result<Hyperparameter> united_parameter(const Hyperparameter& known, const Hyperparameter& asked) {
  if (known.kind != asked.kind) return unlike(known, asked, "one name has one kind, use another name");
  if (!known.is_number()) {
    if (known.choices != asked.choices) return unlike(known, asked, "its choices cannot change, use another name");
    return known;
  }
  if (!known.optional && !are_same_numbers(known, asked)) return unlike(known, asked, "what is declared cannot change");
  if (known.log != asked.log) return unlike(known, asked, "its scale cannot change, use another name");
  Hyperparameter both = known;
  if (!have_same_steps(known, asked)) both.step = 0;
  both.min = std::min(known.min, asked.min);
  both.max = std::max(known.max, asked.max);
  return both;
}

TriedValue drawn_value(const Hyperparameter& asked, std::uint64_t seed, std::int64_t trial) {
  Random random(seed ^ hash_of(asked.name), static_cast<std::uint64_t>(trial));
  const auto space = space_of(asked);
  if (!space.ok()) return {};
  return space->values_of({space->from_unit(0, random.uniform())}).begin()->second;
}

std::optional<TriedValue> fitted_value(const Hyperparameter& asked, const TriedValue& value) {
  if (!asked.is_number()) {
    auto found = std::find(asked.choices.begin(), asked.choices.end(), value);
    if (found == asked.choices.end()) {  // 16 for "16", as somebody may have typed it
      found = std::find_if(asked.choices.begin(), asked.choices.end(),
                           [&](const TriedValue& each) { return text_of(each) == text_of(value); });
    }
    return found == asked.choices.end() ? std::nullopt : std::optional(*found);
  }
  const auto* const whole = std::get_if<std::int64_t>(&value);
  const auto* const real = std::get_if<double>(&value);
  if (whole == nullptr && real == nullptr) return std::nullopt;
  const double number = whole != nullptr ? static_cast<double>(*whole) : *real;
  if (!(number >= asked.min && number <= asked.max)) return std::nullopt;
  const auto space = space_of(asked);
  if (!space.ok()) return std::nullopt;
  return space->values_of({space->nearest(0, number)}).begin()->second;
}

double as_coordinate(const Hyperparameter& parameter, const TriedValue& value) {
  const auto space = space_of(parameter);
  const auto point = space.ok() ? space->point_of({{parameter.name, value}}) : Result<Point>(space.status());
  return point.ok() && !point->empty() ? point->front() : std::numeric_limits<double>::quiet_NaN();
}

}  // namespace trainwarden::tune
