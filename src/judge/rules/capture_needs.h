// What several rules need to be captured, together.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/rules/engine.h"
#include "trainwarden/collection.h"

namespace trainwarden::rules {

// A need, and whose it is.
struct CaptureNeed {
  Collection collection;
  std::vector<std::string> rule_ids;
};

// Of all rules. Needs of the same collection at the same steps become one with the forms of both; needs of the same
// collection at different steps stay apart, as the hook joins them step by step.
std::vector<CaptureNeed> union_of_needs(std::span<const EngineRule> rules);

// As the hook takes it in TRAINWARDEN_NEEDS (docs/reference/config.md).
std::string encode_needs(std::span<const CaptureNeed> needs);

}  // namespace trainwarden::rules
