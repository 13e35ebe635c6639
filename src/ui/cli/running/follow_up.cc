#include "ui/cli/running/follow_up.h"

#include <utility>

#include "react/watch/standard_wires.h"

namespace trainwarden::cli {
namespace {

const std::vector<std::string> kAnyRule = {"*"};

void limit_to_rules(ActionWiring& wiring, const std::vector<std::string>& rule_ids) {
  for (delivery::Wiring& part : wiring.parts) {
    const bool typed = part.config.empty();
    if (!typed) continue;
    for (delivery::Wire& wire : part.wires) {
      if (wire.event.empty() && wire.rules == kAnyRule) wire.rules = rule_ids;
    }
  }
}

}  // namespace

watch::Subscribe follow_up(ActionWiring wiring, const std::vector<std::string>& rule_ids) {
  if (!rule_ids.empty()) {
    limit_to_rules(wiring, rule_ids);
    if (!wiring.leads_to("black-box")) wiring.parts.push_back({{watch::black_box_wire(rule_ids)}, {}});
  }
  return wiring.subscriber();
}

}  // namespace trainwarden::cli
