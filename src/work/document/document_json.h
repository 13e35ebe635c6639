// A document as JSON text, whatever it was written in.
#pragma once

#include <string>

#include "work/document/document.h"

namespace trainwarden::document {

// parse() reads the same values from it, with other places. A number that is not finite becomes the text that Python
// prints, and a date, which nothing takes, null.
std::string to_json_text(const DocumentValue& value);

}  // namespace trainwarden::document
