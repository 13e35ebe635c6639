#include "work/log_metrics/definition.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/regex.h"
#include "core/base/text.h"
#include "work/document/table_reader.h"

namespace trainwarden::log_metrics {
namespace {

using document::DocumentValue;
using document::Mistakes;
using document::TableReader;

constexpr std::string_view kExpectedFile =
    "a TOML file with [[metric]] tables, or JSON with a list of {\"Name\", \"Regex\"}";

constexpr std::array<const char*, 3> kMatchChoices = {"first", "last", "all"};  // in the order of MatchChoice

void check_name(const MetricDefinition& definition, Mistakes& mistakes) {
  const std::string& name = definition.name;
  if (trim(name).empty()) {
    mistakes.add(definition.place, "name: expected the metric's name, as in name = \"train:loss\"");
  } else if (name.size() > kMaxNameBytes) {
    mistakes.add(definition.place,
                 fmt::format("name: expected {} bytes at most, found {}", kMaxNameBytes, name.size()));
  } else if (printable(name) != name) {
    mistakes.add(definition.place, fmt::format("name: expected no control characters, found \"{}\"", printable(name)));
  }
}

void check_regex(const MetricDefinition& definition, Mistakes& mistakes) {
  if (definition.regex.empty()) {
    mistakes.add(definition.place, R"(regex: expected a pattern, as in regex = 'loss: (\S+)')");
    return;
  }
  if (definition.regex.size() > kMaxRegexBytes) {
    mistakes.add(definition.place,
                 fmt::format("regex: expected {} bytes at most, found {}", kMaxRegexBytes, definition.regex.size()));
    return;
  }
  const Result<Regex> pattern = Regex::compile(definition.regex);
  if (!pattern.ok()) {
    mistakes.add(definition.place, fmt::format("regex: {}", pattern.status().message()));
  } else if (pattern->count_groups() > kMaxGroups) {
    mistakes.add(definition.place, fmt::format("regex: expected {} groups at most, found {}; (?:...) groups without "
                                               "capturing",
                                               kMaxGroups, pattern->count_groups()));
  }
}

MetricDefinition read_definition(const DocumentValue& value, Mistakes& mistakes) {
  TableReader table(value, mistakes);
  MetricDefinition definition;
  definition.place = value.place;
  definition.name = table.text({"name"}).value_or("");
  definition.regex = table.text({"regex"}).value_or("");
  definition.match = static_cast<MatchChoice>(table.choice({"match"}, kMatchChoices).value_or(0));
  definition.percent = table.boolean({"percent"}).value_or(false);
  definition.thousands = table.boolean({"thousands"}).value_or(false);
  table.refuse_rest();
  check_name(definition, mistakes);
  check_regex(definition, mistakes);
  return definition;
}

void check_names_differ(const DefinitionSet& set, Mistakes& mistakes) {
  const auto& all = set.definitions;
  for (auto later = all.begin(); later != all.end(); ++later) {
    const auto earlier =
        std::find_if(all.begin(), later, [&](const MetricDefinition& other) { return other.name == later->name; });
    if (earlier == later || later->name.empty()) continue;
    mistakes.add(later->place, fmt::format("name: \"{}\" is defined already ({}); one pattern can match several ways: "
                                           "regex = 'first: (\\S+)|second: (\\S+)'",
                                           printable(later->name), earlier->place));
  }
}

}  // namespace

std::string_view name(MatchChoice choice) {
  return kMatchChoices[static_cast<std::size_t>(choice)];
}

std::vector<MetricDefinition> read_definitions(const DocumentValue& list, Mistakes& mistakes) {
  DefinitionSet set;
  if (!list.is(DocumentValue::Kind::kList)) {
    mistakes.add(list.place, "expected a list of definitions; in TOML, [[metric]] with two brackets on each side");
    return {};
  }
  if (list.items.size() > kMaxDefinitions) {
    mistakes.add(list.place,
                 fmt::format("expected {} definitions at most, found {}", kMaxDefinitions, list.items.size()));
    return {};
  }
  for (const DocumentValue& item : list.items) {
    if (item.is(DocumentValue::Kind::kTable)) {
      set.definitions.push_back(read_definition(item, mistakes));
    } else {
      mistakes.add(item.place, fmt::format(R"(expected a definition, {{"Name": ..., "Regex": ...}}, found {})",
                                           document::name(item.kind)));
    }
  }
  check_names_differ(set, mistakes);
  return set.definitions;
}

namespace {

Result<DefinitionSet> set_of(const DocumentValue& top) {
  Mistakes mistakes;
  DefinitionSet set;
  if (top.is(DocumentValue::Kind::kList)) {
    set.definitions = read_definitions(top, mistakes);
  } else {
    TableReader table(top, mistakes);
    set.strict = table.boolean({"strict_metrics"}).value_or(false);
    const DocumentValue* const list = table.take({"metric", "metric_definitions"});
    table.refuse_rest();
    if (list != nullptr) set.definitions = read_definitions(*list, mistakes);
  }
  TRAINWARDEN_RETURN_IF_ERROR(mistakes.status());
  if (set.definitions.empty()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: expected {}, found no definition", top.place, kExpectedFile));
  }
  return set;
}

}  // namespace

Result<DefinitionSet> parse_definitions(std::string_view text, const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const DocumentValue top, document::parse(text, file));
  return set_of(top);
}

Result<DefinitionSet> read_definition_file(const std::filesystem::path& file) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const DocumentValue top, document::read(file, kExpectedFile));
  return set_of(top);
}

Result<MetricDefinition> parse_definition(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) {
    return Status(Code::kInvalidArgument,
                  fmt::format("expected NAME=REGEX, as in 'train:loss=loss: (\\S+)', found \"{}\"", printable(text)));
  }
  MetricDefinition definition;
  definition.name = trim(text.substr(0, equals));
  definition.regex = text.substr(equals + 1);
  definition.place = fmt::format("\"{}\"", printable(text));
  Mistakes mistakes;
  check_name(definition, mistakes);
  check_regex(definition, mistakes);
  TRAINWARDEN_RETURN_IF_ERROR(mistakes.status());
  return definition;
}

}  // namespace trainwarden::log_metrics
