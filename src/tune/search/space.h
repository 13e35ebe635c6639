// Space: which hyper-parameters there are, and which values they may have.
//
// A Point is one value for each parameter, in the order of the space, as numbers: a real or whole number as it is, of a
// choice its index, NaN for a parameter that is not active (its condition does not hold), and for an optional one that
// a trial was without.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::tune {

using TriedValue = std::variant<bool, std::int64_t, double, std::string>;
std::string text_of(const TriedValue& value);  // "3e-05", "true", "relu"
using TriedValues = std::map<std::string, TriedValue, std::less<>>;

using Point = std::vector<double>;

enum class ParameterKind : std::uint8_t { kReal, kInteger, kChoice };

// A parameter exists only where another one, which stands before it, is active and has one of these values.
struct ActiveWhen {
  std::string parameter;
  std::vector<TriedValue> values;
};

struct Hyperparameter {
  std::string name;
  ParameterKind kind = ParameterKind::kReal;
  double min = 0, max = 0;          // of numbers, both included; equal: it is fixed
  bool log = false;                 // of numbers: searched by its logarithm; min > 0
  double step = 0;                  // of numbers: min + k * step; 0: all (whole) numbers. Not with log
  std::vector<TriedValue> choices;  // of a choice
  bool ordered = false;             // of a choice: neighbours are alike
  std::optional<ActiveWhen> when;
  std::optional<TriedValue> first;  // what is tried first
  bool optional = false;            // a trial may be without it; suggestions have it

  bool is_number() const { return kind != ParameterKind::kChoice; }
};

// Points must have: the sum of weight * value over these parameters is at most `max`. Parameters are numbers; one that
// is not active counts 0.
struct Constraint {
  std::map<std::string, double, std::less<>> weights;
  double max = 0;
};

// For messages: "a number from 0 to 1 in steps of 0.25".
std::string range_text(const Hyperparameter& parameter);

inline constexpr std::size_t kMaxParameters = 256, kMaxChoices = 10'000, kMaxConstraints = 64;

// Immutable once made; from any thread.
class Space {
 public:
  // kInvalidArgument says all that is wrong, each with the name of its parameter. A space in which a thousand random
  // points meet no constraint is refused as contradictory.
  static Result<Space> make(std::vector<Hyperparameter> parameters, std::vector<Constraint> constraints = {});
  // Without parameters: of a study that has what its trials ask for. It has one point, which is empty.
  static Space none() { return Space(); }
  // With what a trial asks for: a parameter more, which is optional and the last one, or a known optional one whose
  // range becomes the union of both (space_extension.h). Values of its points stay what they are. kFailedPrecondition:
  // the name is one of another kind, or is declared otherwise; kInvalidArgument: what is asked for is no parameter.
  Result<Space> extended(Hyperparameter asked) const;

  std::size_t size() const { return parameters_.size(); }
  const Hyperparameter& operator[](std::size_t i) const { return parameters_[i]; }
  const std::vector<Hyperparameter>& parameters() const { return parameters_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  std::optional<std::size_t> find(std::string_view name) const;

  // How many values a parameter has; 0: a continuum. Of the whole space, 0 where it is a continuum or more than 2^53.
  std::uint64_t count_of(std::size_t i) const;
  std::uint64_t count() const;

  // Position in [0, 1] of a value: of a number linear or by its logarithm, such that each value of a number with steps
  // (and each whole number) has an interval of equal width, and its position is the middle of that; of a choice (index
  // + 0.5) / count. NaN stays NaN.
  double to_unit(std::size_t i, double value) const;
  // The value at this position, which is clamped to [0, 1]; the nearest one that the parameter can have.
  double from_unit(std::size_t i, double unit) const;
  // The nearest value that the parameter can have; NaN stays NaN.
  double nearest(std::size_t i, double value) const;

  // Is this parameter active, given the values of those before it?
  bool is_active(const Point& point, std::size_t i) const;
  // NaN where a parameter is not active; where one is active and has none, the middle of its range.
  void settle(Point& point) const;
  // Every active parameter has a value that it can have (an optional one may be NaN), every other one NaN, and the
  // constraints are met.
  bool contains(const Point& point) const;
  bool meets_constraints(const Point& point) const;
  bool meets_constraint(const Constraint& constraint, const Point& point) const;  // one of constraints()

  // By names and in the user's terms; without those that are not active.
  TriedValues values_of(const Point& point) const;
  // Back; an optional parameter may be missing. kInvalidArgument: unknown name, missing or superfluous parameter, value
  // out of range.
  Result<Point> point_of(const TriedValues& values) const;

  bool has_conditions() const;
  bool has_optional() const;

 private:
  Space() = default;
  std::size_t index_of(std::size_t i, double value) const;
  std::vector<Hyperparameter> parameters_;
  std::vector<Constraint> constraints_;
  std::vector<int> parent_;                         // index of the parameter of the condition; -1: none
  std::vector<std::vector<double>> parent_values_;  // as numbers of a Point
};

}  // namespace trainwarden::tune
