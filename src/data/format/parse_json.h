// parse_json: the one way by which a JSON text of a run, of a request or of another program becomes a tree.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/read_budget.h"
#include "data/format/json.h"

namespace trainwarden::format {

// What is looked for before a tree is made: the parser would take a word of memory for each level and some fifty bytes
// for each value, and a tree that is deep enough takes the stack away from who writes it out or lets it go.
struct JsonLimits {
  int depth = 32;  // levels
  std::uint64_t values = read_limits().json_values;
};

// kDataLoss when it is nested too deep, kResourceExhausted when it holds too many values; `what` names the text.
// Says nothing of a text that is no JSON.
Status check_json_limits(std::string_view text, std::string_view what, const JsonLimits& limits = {});

// Any JSON value and nothing after it but blanks; kDataLoss when it is not one, and as above.
Result<Json> parse_json(std::string_view text, std::string_view what, const JsonLimits& limits = {});
Result<OrderedJson> parse_ordered_json(std::string_view text, std::string_view what, const JsonLimits& limits = {});

}  // namespace trainwarden::format
