#include "judge/rules/parameters.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/regex.h"
#include "core/base/spec_text.h"
#include "core/base/text.h"

namespace trainwarden::rules {

void ParameterReader::fail(const std::string& name, std::string_view expected) {
  if (!status_.ok()) return;
  status_ = Status(Code::kInvalidArgument,
                   fmt::format("parameter {}: expected {}, found \"{}\"", name, expected, printable(text(name))));
}

double ParameterReader::number(const std::string& name, double lowest, double highest) {
  const auto value = parse_double(text(name));
  if (value && *value >= lowest && *value <= highest) return *value;
  const bool bounded = highest < std::numeric_limits<double>::max();
  fail(name, bounded ? fmt::format("a number from {} to {}", lowest, highest)
                     : fmt::format("a number of at least {}", lowest));
  return lowest;
}

std::optional<double> ParameterReader::optional_number(const std::string& name, double lowest) {
  if (text(name).empty() || text(name) == "None") return std::nullopt;
  return number(name, lowest);
}

std::int64_t ParameterReader::integer(const std::string& name, std::int64_t lowest, std::int64_t highest) {
  const auto value = parse_int(text(name));
  if (value && *value >= lowest && *value <= highest) return *value;
  fail(name, fmt::format("a whole number from {} to {}", lowest, highest));
  return lowest;
}

bool ParameterReader::boolean(const std::string& name) {
  const auto value = parse_bool(text(name));
  if (!value) fail(name, "True or False");
  return value.value_or(false);
}

std::size_t ParameterReader::choice(const std::string& name, std::initializer_list<std::string_view> choices) {
  const auto found = std::find(choices.begin(), choices.end(), text(name));
  if (found == choices.end()) fail(name, fmt::format("one of {}", fmt::join(choices, ", ")));
  return found == choices.end() ? 0 : static_cast<std::size_t>(found - choices.begin());
}

std::vector<std::string> ParameterReader::list(const std::string& name) {
  return split_value_list(text(name));
}

std::vector<std::string> ParameterReader::collections(const std::string& name) {
  std::vector<std::string> collections = list(name);
  if (collections.empty() && status_.ok()) {
    status_ =
        Status(Code::kInvalidArgument, fmt::format("parameter {}: expected at least one collection, found none", name));
  }
  return collections;
}

std::vector<std::string> ParameterReader::patterns(const std::string& name) {
  std::vector<std::string> patterns = list(name);
  for (const std::string& pattern : patterns) {
    const Status compiled = Regex::compile(pattern).status();
    if (!compiled.ok()) fail(name, fmt::format("patterns ({})", compiled.message()));
  }
  return patterns;
}

std::optional<Mode> ParameterReader::mode(const std::string& name) {
  if (text(name).empty()) return std::nullopt;
  const auto mode = parse_mode(text(name));
  if (!mode) fail(name, "train, eval, predict, global or nothing");
  return mode;
}

}  // namespace trainwarden::rules
