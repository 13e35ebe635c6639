// The rules that come with Trainwarden, and how one of them is made: from its own factory, and from nothing else.
#pragma once

#include <memory>
#include <string_view>

#include "trainwarden/rule.h"

namespace trainwarden::rules {

// By its exact name; null when there is none.
const RuleKind* find_builtin(std::string_view name);
// Of a rule that comes with Trainwarden and tells of a goal, no fault.
bool is_goal(std::string_view name);
// The same as find_builtin() among those that judge by a run's own trial alone. Their parameters are names, patterns,
// numbers and words: none can be made to read another file or to start a program, whoever gives them.
const RuleKind* find_run_rule(std::string_view name);

// By the kind's factory, with the defaults of what is not given. kInvalidArgument for a parameter that neither the
// kind declares nor all of them take (ranged_rule.h), and for a bad value. No parameter leads anywhere else: a rule
// file, an expression and a rule host are create_rule()'s alone.
Result<std::unique_ptr<Rule>> create_builtin(const RuleKind& kind, RuleParameters parameters);
Status check_declared(const RuleKind& kind, std::string_view parameter);

}  // namespace trainwarden::rules
