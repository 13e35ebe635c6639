#include "work/catalogue/component_values.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.h"

namespace trainwarden::catalogue {
namespace {

constexpr std::string_view kParameterPrefix = "Parameters.";
constexpr std::string_view kMetricPrefix = "Metrics.";

struct ValueNames {
  std::set<std::string> parameters;
  std::set<std::string> metrics;
};

ValueNames value_names_in(const std::vector<FoundComponent>& components) {
  ValueNames names;
  for (const FoundComponent& found : components) {
    for (const auto& [name, value] : found.component.now.parameters) names.parameters.insert(name);
    for (const auto& [name, summary] : found.component.now.metrics) names.metrics.insert(name);
  }
  return names;
}

// "loss", also as "loss.Max".
bool has_value_of(const std::set<std::string>& names, const std::string& text) {
  return names.contains(text) || names.contains(text.substr(0, text.rfind('.')));
}

bool is_known_value(const ValueNames& names, const std::string& property) {
  if (property.starts_with(kParameterPrefix))
    return has_value_of(names.parameters, property.substr(kParameterPrefix.size()));
  if (property.starts_with(kMetricPrefix)) return has_value_of(names.metrics, property.substr(kMetricPrefix.size()));
  return true;
}

Status no_such_value(const std::string& name, const std::vector<std::string>& known) {
  constexpr std::ptrdiff_t kMostNames = 20;
  std::string choice = did_you_mean(name, known);
  if (choice.empty() && !known.empty()) {
    const auto end = known.begin() + std::min<std::ptrdiff_t>(kMostNames, std::ssize(known));
    choice = fmt::format("; there are {}{}", fmt::join(known.begin(), end, ", "), end == known.end() ? "" : ", ...");
  }
  return Status(Code::kInvalidArgument,
                fmt::format("no component has a value \"{}\"{}", printable(name), printable(choice)));
}

}  // namespace

Status check_named_values(const std::vector<FoundComponent>& components, const NamedValues& named) {
  const ValueNames names = value_names_in(components);
  for (const std::string& column : named.columns) {
    if (names.parameters.contains(column) || names.metrics.contains(column)) continue;
    std::vector<std::string> known(names.parameters.begin(), names.parameters.end());
    known.insert(known.end(), names.metrics.begin(), names.metrics.end());
    return no_such_value(column, known);
  }
  for (const std::string& property : named.properties) {
    if (is_known_value(names, property)) continue;
    std::vector<std::string> known;
    for (const std::string& name : names.parameters) known.push_back(fmt::format("{}{}", kParameterPrefix, name));
    for (const std::string& name : names.metrics) known.push_back(fmt::format("{}{}", kMetricPrefix, name));
    return no_such_value(property, known);
  }
  return Status();
}

}  // namespace trainwarden::catalogue
