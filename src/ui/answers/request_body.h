// What stands in the body of a POST.
#pragma once

#include <string>
#include <string_view>

#include "data/format/json.h"
#include "trainwarden/status.h"
#include "ui/answers/route.h"

namespace trainwarden::answers {

// kInvalidArgument: what was expected in this field.
Status bad_body(std::string_view field, std::string_view expected);

// kInvalidArgument unless it is a JSON object.
Result<format::Json> body_of(const Request& request);

// Its field "reason": why somebody asks for something, 1 to 500 bytes; "somebody asked for it on the page" when it is
// not there. It is the only field. kInvalidArgument.
Result<std::string> reason_of(const Request& request);

}  // namespace trainwarden::answers
