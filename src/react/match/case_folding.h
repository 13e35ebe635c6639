// Case folding: what equals-ignore-case compares.
#pragma once

#include <string>
#include <string_view>

namespace trainwarden::match {

// Each character in its folded form, by Unicode's simple folding (one character for one): "STRASSE" and "Straße" stay
// different, "ÄÖ" and "äö" become the same. `text` is well-formed UTF-8. The answer is written into `folded`.
void fold_case(std::string_view text, std::string& folded);

}  // namespace trainwarden::match
