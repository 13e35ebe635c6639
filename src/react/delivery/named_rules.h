// Which rules a wire names, so that one that no run ever has can be reported while a mistake is still cheap.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "react/delivery/wiring.h"

namespace trainwarden::delivery {

struct NamedRule {
  std::string text;    // "vanishing_gradient", "*Gradient"
  bool exact = false;  // a plain text of a pattern: case and every character count
};

// Those of `rule`; of a pattern each text that it asks for, or leaves to case or stars, where events have a rule's id.
// "*" and what a pattern excludes or asks for by its beginning or end names no rule.
std::vector<NamedRule> named_rules(const Wire& wire);

// Would one of these ids be meant? Of several rules of a kind, the second and later have "-2", "-3" after their names,
// and so may be named before it is known how many there are.
bool names_one_of(const NamedRule& named, std::span<const std::string> rule_ids);

}  // namespace trainwarden::delivery
