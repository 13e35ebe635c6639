// Errors that show the place in the text.
#pragma once

#include <string>
#include <string_view>

#include "judge/rules/language/expression.h"
#include "trainwarden/status.h"

namespace trainwarden::rules::language {

// kInvalidArgument:
//
//   line 1, column 1: there is no function "l3"; did you mean "l2"?
//     l3(gradient/*) > 3
//     ^^
Status source_error(std::string_view text, Place place, std::string_view what);

}  // namespace trainwarden::rules::language
