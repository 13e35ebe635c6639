// From text to a checked expression. Recursive descent; the grammar is in docs/reference/rule-language.md.
#pragma once

#include <string_view>

#include "judge/rules/language/expression.h"
#include "trainwarden/status.h"

namespace trainwarden::rules::language {

// kInvalidArgument with the place, what was expected there, and the nearest known word.
Result<Expression> parse_expression(std::string_view text);

}  // namespace trainwarden::rules::language
