#include "react/delivery/alert_pattern.h"

#include <algorithm>
#include <utility>

#include "data/format/json.h"
#include "react/events/event.h"

namespace trainwarden::delivery {
namespace {

using format::OrderedJson;

// "*" alone and runs of it say no more than one.
std::string single_stars(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c != '*' || !result.ends_with('*')) result += c;
  }
  return result;
}

OrderedJson rule_patterns(std::span<const std::string> rules) {
  OrderedJson patterns = OrderedJson::array();
  for (const std::string& rule : rules) {
    if (rule.find('*') != std::string::npos) {
      patterns.push_back({{"wildcard", single_stars(rule)}});
      continue;
    }
    patterns.push_back({{"equals-ignore-case", rule}});
    std::string joined = rule;
    std::erase(joined, '_');
    if (joined != rule && !joined.empty()) patterns.push_back({{"equals-ignore-case", joined}});
  }
  return patterns;
}

}  // namespace

std::string alert_pattern(std::span<const std::string> rules, EventFormat format) {
  const bool any = std::find(rules.begin(), rules.end(), "*") != rules.end();
  OrderedJson pattern;
  if (format == EventFormat::kEventBridge) {
    pattern["detail-type"] = {events::kEventBridgeAlertType};
  } else {
    pattern["type"] = {events::kAlertType};
  }
  if (!any) {
    pattern[format == EventFormat::kEventBridge ? "detail" : "data"] = {{"change", {{"rule", rule_patterns(rules)}}}};
  }
  return format::dump_json(pattern);
}

}  // namespace trainwarden::delivery
