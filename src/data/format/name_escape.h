// Names as JSON keys: any bytes in, UTF-8 out, and back.
//
// Tensor names may hold any bytes; JSON holds UTF-8 only and safetensors keeps the key "__metadata__" for itself. So a
// byte that is not part of well-formed UTF-8 is written as %XX, '%' itself as %25, and the one reserved name as
// "%5F_metadata__". Every other name stands as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/format/json.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

std::string escape_name(std::string_view name);

// kDataLoss when escape_name would not have written it so: a name has one written form only.
Result<std::string> unescape_name(std::string_view written);

// As string_field and strings_field of json.h, for names.
Result<std::string> name_field(const Json& object, const char* field);
Result<std::vector<std::string>> names_field(const Json& object, const char* field);
OrderedJson names_to_json(const std::vector<std::string>& names);

}  // namespace trainwarden::format
