// A rule that is written as one line of text: `l2(gradient/*) > 100 * median(l2(gradient/*), 50 steps) for 3 steps`.
//
// Its reference is docs/reference/rule-language.md. State: the evaluator's, which is bounded. It judges by statistics
// and scalars of the current step alone, and so may run inside the training.
#pragma once

#include <memory>
#include <string_view>

#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::rules::language {

inline constexpr std::string_view kDefaultName = "Expression";  // of a rule without a name of its own
inline constexpr const char* kExpressionParameter = "expression";

// Whether a rule spec is meant as text in this language: it calls a function or compares, and is not NAME:param=value.
bool reads_like_expression(std::string_view spec);

// kInvalidArgument with the place of the fault.
Result<RuleSpec> parse_expression_spec(std::string_view text);
Result<std::unique_ptr<Rule>> create_expression_rule(std::string_view text);

// Made by parse_expression_spec().
bool is_expression_spec(const RuleSpec& spec);

}  // namespace trainwarden::rules::language
