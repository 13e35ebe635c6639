#include "ui/views/query.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::views {
namespace {

Status wrong(std::string_view name, std::string_view expected, std::string_view found) {
  return {Code::kInvalidArgument, fmt::format("parameter \"{}\": expected {}, found \"{}\"", name, expected, found)};
}

Status missing(std::string_view name) {
  return {Code::kInvalidArgument, fmt::format("parameter \"{}\" is missing", name)};
}

Result<std::int64_t> integer_of(std::string_view name, std::string_view text, std::int64_t lowest,
                                std::int64_t highest) {
  const auto number = parse_int(text);
  if (!number || *number < lowest || *number > highest) {
    return wrong(name, fmt::format("a whole number from {} to {}", lowest, highest), text);
  }
  return *number;
}

}  // namespace

const std::string* Query::find(std::string_view name) const {
  const auto found = parameters_.find(std::string(name));
  return found == parameters_.end() ? nullptr : &found->second;
}

bool Query::has(std::string_view name) const {
  return find(name) != nullptr;
}

std::string Query::text(std::string_view name, std::string_view fallback) const {
  const std::string* found = find(name);
  return found ? *found : std::string(fallback);
}

Result<std::string> Query::required_text(std::string_view name) const {
  const std::string* found = find(name);
  if (!found) return missing(name);
  return *found;
}

Result<std::int64_t> Query::integer(std::string_view name, std::int64_t lowest, std::int64_t highest,
                                    std::int64_t fallback) const {
  const std::string* found = find(name);
  if (!found) return fallback;
  return integer_of(name, *found, lowest, highest);
}

Result<std::int64_t> Query::required_integer(std::string_view name, std::int64_t lowest, std::int64_t highest) const {
  const std::string* found = find(name);
  if (!found) return missing(name);
  return integer_of(name, *found, lowest, highest);
}

Result<double> Query::number(std::string_view name, double fallback) const {
  const std::string* found = find(name);
  if (!found) return fallback;
  const auto number = parse_double(*found);
  if (!number) return wrong(name, "a number", *found);
  return *number;
}

Result<std::vector<std::string>> Query::list(std::string_view name, std::size_t most) const {
  const std::string* found = find(name);
  if (!found || found->empty()) return std::vector<std::string>();
  std::vector<std::string> parts = split_list(*found);
  if (parts.size() > most) {
    return Status(Code::kInvalidArgument,
                  fmt::format("parameter \"{}\": at most {} values, found {}", name, most, parts.size()));
  }
  return parts;
}

Result<std::vector<std::int64_t>> Query::integers(std::string_view name, std::int64_t lowest, std::int64_t highest,
                                                  std::size_t most) const {
  const auto parts = list(name, most);
  if (!parts.ok()) return parts.status();
  std::vector<std::int64_t> numbers;
  for (const std::string& part : *parts) {
    const auto number = integer_of(name, part, lowest, highest);
    if (!number.ok()) return number.status();
    numbers.push_back(*number);
  }
  return numbers;
}

Result<std::optional<Mode>> Query::mode() const {
  const std::string* found = find("mode");
  if (!found || found->empty()) return std::optional<Mode>();
  for (const Mode mode : {Mode::kTrain, Mode::kEval, Mode::kPredict, Mode::kGlobal}) {
    if (*found == trainwarden::name(mode)) return std::optional<Mode>(mode);
  }
  return wrong("mode", "train, eval, predict or global", *found);
}

Status Query::only(std::initializer_list<std::string_view> known) const {
  const std::vector<std::string> names(known.begin(), known.end());
  for (const auto& [name, value] : parameters_) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string meant = did_you_mean(name, names);
    const std::string all = names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
    return {Code::kInvalidArgument, fmt::format("there is no parameter \"{}\" here{} Known are: {}", printable(name),
                                                meant.empty() ? "." : meant, all)};
  }
  return {};
}

}  // namespace trainwarden::views
