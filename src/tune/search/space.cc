#include "tune/search/space.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tune/search/random.h"
#include "tune/search/sampler.h"
#include "tune/search/space_check.h"
#include "tune/search/space_extension.h"

namespace trainwarden::tune {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr std::uint64_t kSeedOfCheck = 1;
constexpr int kPointsOfCheck = 1000;

double step_of(const Hyperparameter& parameter) {
  if (parameter.step > 0) return parameter.step;
  return parameter.kind == ParameterKind::kInteger ? 1 : 0;
}

// The largest value that min + k * step reaches.
double last_of(const Hyperparameter& parameter) {
  const double step = step_of(parameter);
  if (step == 0) return parameter.max;
  // A step of 0.1 shall reach from 0 to 0.3, though three tenths are a little less in doubles.
  return parameter.min + std::floor((parameter.max - parameter.min) / step * (1 + 1e-12) + 1e-9) * step;
}

// Ends of what [0, 1] stands for: half a step more on both sides.
std::pair<double, double> ends_of(const Hyperparameter& parameter) {
  const double half = step_of(parameter) / 2;
  const double low = parameter.min - half, high = last_of(parameter) + half;
  return parameter.log ? std::pair(std::log(low), std::log(high)) : std::pair(low, high);
}

std::optional<double> number_of(const Hyperparameter& parameter, const TriedValue& value) {
  if (!parameter.is_number()) {
    const auto found = std::find(parameter.choices.begin(), parameter.choices.end(), value);
    if (found == parameter.choices.end()) return std::nullopt;
    return static_cast<double>(found - parameter.choices.begin());
  }
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

}  // namespace

std::string range_text(const Hyperparameter& parameter) {
  if (!parameter.is_number()) {
    std::vector<std::string> texts;
    for (const TriedValue& choice : parameter.choices) texts.push_back(text_of(choice));
    return fmt::format("one of {}", fmt::join(texts, ", "));
  }
  const std::string steps = parameter.step > 0 ? fmt::format(" in steps of {}", parameter.step) : std::string();
  return fmt::format("{} from {} to {}{}", parameter.kind == ParameterKind::kInteger ? "a whole number" : "a number",
                     parameter.min, parameter.max, steps);
}

std::string text_of(const TriedValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return fmt::format("{}", *whole);
  return fmt::format("{}", std::get<double>(value));
}

Result<Space> Space::make(std::vector<Hyperparameter> parameters, std::vector<Constraint> constraints) {
  TRAINWARDEN_RETURN_IF_ERROR(check_parameters(parameters));
  TRAINWARDEN_RETURN_IF_ERROR(check_constraints(parameters, constraints));
  Space space;
  space.parameters_ = std::move(parameters);
  space.constraints_ = std::move(constraints);
  for (const Hyperparameter& parameter : space.parameters_) {
    space.parent_.push_back(parameter.when ? static_cast<int>(*space.find(parameter.when->parameter)) : -1);
    std::vector<double>& values = space.parent_values_.emplace_back();
    if (!parameter.when) continue;
    const Hyperparameter& parent = space.parameters_[static_cast<std::size_t>(space.parent_.back())];
    for (const TriedValue& value : parameter.when->values) values.push_back(*number_of(parent, value));
  }
  Random random(kSeedOfCheck);
  for (int i = 0; i < kPointsOfCheck && !space.constraints_.empty(); ++i) {
    if (space.meets_constraints(uniform_point(space, random))) return space;
  }
  if (space.constraints_.empty()) return space;
  return Status(Code::kInvalidArgument,
                fmt::format("expected constraints that some points meet, found none among {} random points: widen the "
                            "ranges or drop a constraint",
                            kPointsOfCheck));
}

Result<Space> Space::extended(Hyperparameter asked) const {
  asked.optional = true;
  std::vector<Hyperparameter> parameters = parameters_;
  if (const auto known = find(asked.name)) {
    TRAINWARDEN_RETURN_IF_ERROR(make({asked}).status());
    TRAINWARDEN_ASSIGN_OR_RETURN(parameters[*known], united_parameter(parameters[*known], asked));
  } else {
    parameters.push_back(std::move(asked));
  }
  return make(std::move(parameters), constraints_);
}

std::optional<std::size_t> Space::find(std::string_view name) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (parameters_[i].name == name) return i;
  }
  return std::nullopt;
}

std::uint64_t Space::count_of(std::size_t i) const {
  const Hyperparameter& parameter = parameters_[i];
  if (!parameter.is_number()) return parameter.choices.size();
  const double step = step_of(parameter);
  if (parameter.min == parameter.max) return 1;
  return step == 0 ? 0 : static_cast<std::uint64_t>(std::llround((last_of(parameter) - parameter.min) / step)) + 1;
}

// Which of its values this is, of a parameter with so many that they can be counted.
std::size_t Space::index_of(std::size_t i, double value) const {
  const Hyperparameter& parameter = parameters_[i];
  const double step = parameter.is_number() ? step_of(parameter) : 1;
  const double min = parameter.is_number() ? parameter.min : 0;
  return static_cast<std::size_t>(std::llround((value - min) / step));
}

// Conditions make it fewer: of each value of the parent only those below it that it makes active.
std::uint64_t Space::count() const {
  constexpr double kMaxCount = 0x1p53;
  std::vector<std::vector<double>> by_value(size());
  double whole = 1;
  for (std::size_t i = size(); i-- > 0;) {
    const auto values = count_of(i);
    if (values == 0) return 0;
    double sum = static_cast<double>(values);
    if (!by_value[i].empty()) {
      sum = 0;
      for (const double each : by_value[i]) sum += each;
    }
    if (sum > kMaxCount) return 0;
    if (parent_[i] < 0) {
      whole *= sum;
      if (whole > kMaxCount) return 0;
      continue;
    }
    const auto parent = static_cast<std::size_t>(parent_[i]);
    const std::uint64_t parent_count = count_of(parent);
    if (parent_count == 0 || parent_count > kMaxChoices) return 0;
    by_value[parent].resize(parent_count, 1);
    for (const double value : parent_values_[i]) {
      by_value[parent][index_of(parent, value)] *= sum;
    }
  }
  return static_cast<std::uint64_t>(whole);
}

double Space::to_unit(std::size_t i, double value) const {
  const Hyperparameter& parameter = parameters_[i];
  if (std::isnan(value)) return kNaN;
  if (!parameter.is_number()) return (value + 0.5) / static_cast<double>(parameter.choices.size());
  const auto [low, high] = ends_of(parameter);
  if (low == high) return 0.5;
  return std::clamp(((parameter.log ? std::log(value) : value) - low) / (high - low), 0.0, 1.0);
}

double Space::from_unit(std::size_t i, double unit) const {
  const Hyperparameter& parameter = parameters_[i];
  if (std::isnan(unit)) return kNaN;
  unit = std::clamp(unit, 0.0, 1.0);
  if (!parameter.is_number()) {
    const auto count = static_cast<double>(parameter.choices.size());
    return std::min(std::floor(unit * count), count - 1);
  }
  const auto [low, high] = ends_of(parameter);
  const double at = low + unit * (high - low);
  return nearest(i, parameter.log ? std::exp(at) : at);
}

double Space::nearest(std::size_t i, double value) const {
  const Hyperparameter& parameter = parameters_[i];
  if (std::isnan(value)) return kNaN;
  if (!parameter.is_number()) {
    return std::clamp(std::round(value), 0.0, static_cast<double>(parameter.choices.size() - 1));
  }
  const double step = step_of(parameter);
  if (step > 0) value = parameter.min + std::round((value - parameter.min) / step) * step;
  return std::clamp(value, parameter.min, last_of(parameter));
}

bool Space::is_active(const Point& point, std::size_t i) const {
  if (parent_[i] < 0) return true;
  const double value = point[static_cast<std::size_t>(parent_[i])];
  return std::find(parent_values_[i].begin(), parent_values_[i].end(), value) != parent_values_[i].end();
}

void Space::settle(Point& point) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (!is_active(point, i)) {
      point[i] = kNaN;
    } else {
      point[i] = std::isnan(point[i]) ? from_unit(i, 0.5) : nearest(i, point[i]);
    }
  }
}

bool Space::meets_constraints(const Point& point) const {
  return std::all_of(constraints_.begin(), constraints_.end(),
                     [&](const Constraint& constraint) { return meets_constraint(constraint, point); });
}

bool Space::meets_constraint(const Constraint& constraint, const Point& point) const {
  double sum = 0;
  for (const auto& [name, weight] : constraint.weights) {
    const double value = point[*find(name)];
    if (!std::isnan(value)) sum += weight * value;
  }
  return sum <= constraint.max;
}

bool Space::contains(const Point& point) const {
  if (point.size() != size()) return false;
  for (std::size_t i = 0; i < size(); ++i) {
    if (std::isnan(point[i])) {
      if (is_active(point, i) && !parameters_[i].optional) return false;
    } else if (!is_active(point, i) || nearest(i, point[i]) != point[i]) {
      return false;
    }
  }
  return meets_constraints(point);
}

TriedValues Space::values_of(const Point& point) const {
  TriedValues values;
  for (std::size_t i = 0; i < size(); ++i) {
    if (std::isnan(point[i])) continue;
    const Hyperparameter& parameter = parameters_[i];
    switch (parameter.kind) {
      case ParameterKind::kReal: values[parameter.name] = point[i]; break;
      case ParameterKind::kInteger: values[parameter.name] = static_cast<std::int64_t>(std::llround(point[i])); break;
      case ParameterKind::kChoice:
        values[parameter.name] = parameter.choices[static_cast<std::size_t>(point[i])];
        break;
    }
  }
  return values;
}

Result<Point> Space::point_of(const TriedValues& values) const {
  Point point(size(), kNaN);
  std::size_t used = 0;
  for (std::size_t i = 0; i < size(); ++i) {
    const Hyperparameter& parameter = parameters_[i];
    const auto found = values.find(parameter.name);
    const bool active = is_active(point, i);
    if (found == values.end()) {
      if (!active || parameter.optional) continue;
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: expected {}, found nothing", parameter.name, range_text(parameter)));
    }
    ++used;
    if (!active) {
      return Status(Code::kInvalidArgument,
                    fmt::format("{}: expected nothing, since {} has none of the values that it "
                                "needs; found {}",
                                parameter.name, parameter.when->parameter, text_of(found->second)));
    }
    const auto number = number_of(parameter, found->second);
    // Numbers with steps are allowed what rounding makes of them.
    const double near = number ? nearest(i, *number) : kNaN;
    if (!number || !(std::abs(near - *number) <= 1e-9 * std::max(1.0, std::abs(*number)))) {
      return Status(Code::kInvalidArgument, fmt::format("{}: expected {}, found {}", parameter.name,
                                                        range_text(parameter), text_of(found->second)));
    }
    point[i] = near;
  }
  if (used < values.size()) {
    for (const auto& [name, value] : values) {
      if (!find(name)) return Status(Code::kInvalidArgument, fmt::format("there is no parameter {}", name));
    }
  }
  if (!meets_constraints(point)) {
    return Status(Code::kInvalidArgument,
                  "expected values that meet the constraints between parameters, found ones that do not");
  }
  return point;
}

bool Space::has_optional() const {
  return std::any_of(parameters_.begin(), parameters_.end(), [](const Hyperparameter& each) { return each.optional; });
}

bool Space::has_conditions() const {
  return std::any_of(parent_.begin(), parent_.end(), [](int parent) { return parent >= 0; });
}

}  // namespace trainwarden::tune
