// The text of a spec, of a rule or of an action, taken apart, before anybody looks at what the words mean.
//
//   spec      = name [":" parameter *("," parameter)]
//   parameter = key "=" value
//
// A value ends at the next comma. Within double quotes a comma is a comma, and outside them \, is. \" is a quote in
// both. Any other backslash stands for itself, so that patterns can be written as they are: tensor_regex=\.weight$
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden {

struct SpecText {
  std::string name;
  std::vector<std::pair<std::string, std::string>> parameters;  // in the order of writing
};

// kInvalidArgument with the fault; `what` names in it what the spec is of: "rule".
Result<SpecText> split_spec(std::string_view text, std::string_view what);

// "a, b\,c ,d" → {"a", "b,c", "d"}: split at commas, trimmed, empty parts dropped; \, is a comma within a part.
std::vector<std::string> split_value_list(std::string_view value);

}  // namespace trainwarden
