// Marks in JSON: what would drive a terminal that the document is shown on.
#pragma once

#include <string>

namespace trainwarden {

// The same document with DEL, C1 control characters, U+2028, U+2029 and the marks of direction written as \uXXXX.
// `json` is a whole document, in UTF-8, as a serializer wrote it: such characters stand within its strings only, and
// the control characters below U+0020 are escaped already, but for the blanks between its values.
std::string escape_marks(std::string json);

}  // namespace trainwarden
