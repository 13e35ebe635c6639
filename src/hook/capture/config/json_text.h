// A text as JSON, and what is wrong with it where it is none.
#pragma once

#include <string_view>

#include <nlohmann/json.hpp>

#include "trainwarden/status.h"

namespace trainwarden::capture {

// kInvalidArgument with line and column.
Result<nlohmann::json> parse_json(std::string_view text);

}  // namespace trainwarden::capture
