// JSON as Python writes it: with NaN, Infinity and -Infinity, which are no JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"

namespace trainwarden::tune {

// The same text with "NaN", "Infinity" and "-Infinity" as texts where they stand outside of texts.
std::string quoted_numbers(std::string_view text);
// An object. Errors as parse_json_object().
Result<format::Json> python_object(std::string_view text, std::string_view what);
// A list of texts. kDataLoss.
Result<std::vector<std::string>> python_texts(std::string_view text, std::string_view what);

}  // namespace trainwarden::tune
