// JSON as the format uses it: strict reading of texts that may be damaged or hostile, compact writing.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "trainwarden/status.h"

namespace trainwarden::format {

using Json = nlohmann::json;
using OrderedJson = nlohmann::ordered_json;  // keeps the order in which fields were added

// One JSON object and nothing after it but blanks. kDataLoss when it is not, when a name is there twice within an
// object, or when it is nested deeper than 32 levels; `what` names the text in the message.
Result<Json> parse_json_object(std::string_view text, std::string_view what);

// Without blanks. Bytes that are not UTF-8 become U+FFFD, what would drive a terminal is escaped
// (core/base/json_marks.h); names that must survive are escaped first (name_escape.h).
std::string dump_json(const OrderedJson& json);

// Fields of an object. kDataLoss with the field's name when it is missing, of another type or out of range.
Result<std::string> string_field(const Json& object, const char* field);
Result<std::int64_t> int_field(const Json& object, const char* field,
                               std::int64_t lowest = std::numeric_limits<std::int64_t>::min(),
                               std::int64_t highest = std::numeric_limits<std::int64_t>::max());
Result<std::uint64_t> uint_field(const Json& object, const char* field,
                                 std::uint64_t highest = std::numeric_limits<std::uint64_t>::max());
Result<bool> bool_field(const Json& object, const char* field);
// The field itself, an array or an object; it lives as long as `object`.
Result<const Json*> array_field(const Json& object, const char* field);
Result<const Json*> object_field(const Json& object, const char* field);
Result<std::vector<std::string>> strings_field(const Json& object, const char* field);

}  // namespace trainwarden::format
