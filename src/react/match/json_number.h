// The value of a JSON number, as patterns compare it: the nearest double.
#pragma once

#include <string_view>

namespace trainwarden::match {

// `text` is a number of JSON's grammar. One that is too large for a double is an infinity, one that is too small is 0.
double number_of(std::string_view text);

}  // namespace trainwarden::match
