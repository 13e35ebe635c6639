// Finds a rule that comes with Trainwarden.
#pragma once

#include <string_view>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// By its exact name; null when there is none.
const RuleKind* find_builtin(std::string_view name);

}  // namespace trainwarden::rules
