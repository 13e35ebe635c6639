// Where in a text something stands, for people.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainwarden {

// "line 3, column 7", both from 1; a column is a byte. An offset beyond the text is its end.
std::string line_and_column(std::string_view text, std::size_t offset);

}  // namespace trainwarden
