#include "react/delivery/named_rules.h"

#include <algorithm>
#include <string_view>

#include "core/base/text.h"
#include "data/format/json.h"

namespace trainwarden::delivery {
namespace {

using format::Json;

// A test of a pattern: a text, or an object with the test's name.
void take_test(const Json& test, std::vector<NamedRule>& named) {
  if (test.is_string()) {
    named.push_back({test.get<std::string>(), true});
    return;
  }
  if (!test.is_object()) return;
  for (const char* exact : {"exactly", "equals-ignore-case", "wildcard"}) {
    const auto text = test.find(exact);
    if (text == test.end() || !text->is_string()) continue;
    named.push_back({text->get<std::string>(), std::string_view(exact) == "exactly"});
  }
}

// `parent` is the key that `pattern` is the value of: events have rules' ids in change.rule and in
// RuleConfigurationName, in both formats.
void take_pattern(const Json& pattern, std::string_view parent, std::vector<NamedRule>& named) {
  if (pattern.is_array()) {  // of $or
    for (const Json& choice : pattern) take_pattern(choice, parent, named);
    return;
  }
  if (!pattern.is_object()) return;
  for (const auto& [key, value] : pattern.items()) {
    const bool is_rule = key == "RuleConfigurationName" || (key == "rule" && parent == "change");
    if (is_rule && value.is_array()) {
      for (const Json& test : value) take_test(test, named);
    } else {
      take_pattern(value, key == "$or" ? parent : std::string_view(key), named);
    }
  }
}

// "VanishingGradient" of "VanishingGradient-2".
std::string without_number(const std::string& text) {
  const std::size_t dash = text.rfind('-');
  if (dash == std::string::npos || !parse_int(std::string_view(text).substr(dash + 1))) return text;
  return text.substr(0, dash);
}

bool means(const NamedRule& named, const std::string& rule_id) {
  if (named.exact) return named.text == rule_id;
  const std::vector<std::string> one = {named.text};
  return names_rule(one, rule_id);
}

}  // namespace

std::vector<NamedRule> named_rules(const Wire& wire) {
  std::vector<NamedRule> named;
  for (const std::string& rule : wire.rules) {
    if (rule != "*") named.push_back({rule, false});
  }
  const auto pattern = Json::parse(wire.event, nullptr, false);  // one that is none is reported where it is parsed
  take_pattern(pattern, "", named);
  return named;
}

bool names_one_of(const NamedRule& named, std::span<const std::string> rule_ids) {
  const NamedRule first{without_number(named.text), named.exact};
  return std::any_of(rule_ids.begin(), rule_ids.end(),
                     [&](const std::string& rule_id) { return means(named, rule_id) || means(first, rule_id); });
}

}  // namespace trainwarden::delivery
