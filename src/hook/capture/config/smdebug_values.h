// Values of smdebug's hook configuration: each is a native JSON value or the text that the SageMaker API makes of it.
//
// As JsonObject::read(): what is absent leaves the variable alone, what is wrong goes to the object's status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "hook/capture/config/json_object.h"

namespace trainwarden::capture {

// true, "true", "True", 1 and their opposites.
void read_flag(JsonObject& object, const std::string& key, bool& value);
void read_flag(JsonObject& object, const std::string& key, std::optional<bool>& value);
// 10, "10".
void read_whole(JsonObject& object, const std::string& key, std::int64_t& value, std::int64_t at_least);
// The same, or null.
void read_whole(JsonObject& object, const std::string& key, std::optional<std::int64_t>& value, std::int64_t at_least);
// "0,1,2", [0, 1, 2], 0.
void read_wholes(JsonObject& object, const std::string& key, std::vector<std::int64_t>& value, std::int64_t at_least);
// "a, b", ["a", "b"]: an array's elements may hold commas. Empty ones are left out: as patterns they would be found in
// every name.
void read_texts(JsonObject& object, const std::string& key, std::vector<std::string>& value);
// A text; null: none.
void read_text(JsonObject& object, const std::string& key, std::string& value);

}  // namespace trainwarden::capture
