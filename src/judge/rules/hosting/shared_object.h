// Rules of shared objects (trainwarden/rule_abi.h) as Rule. Only for the process that hosts one.
#pragma once

#include <memory>
#include <string>

#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

// Loads the file, for as long as the process lives. `name`: empty when the file has one rule only. kInvalidArgument: no
// shared object, none with rules, no such rule or parameter, or what the rule says of a value.
Result<std::unique_ptr<Rule>> load_shared_object_rule(const std::string& file, const std::string& name,
                                                      const RuleParameters& parameters);

}  // namespace trainwarden::rules
