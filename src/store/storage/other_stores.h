// Addresses of stores that are not reached as they are written, and what can be done instead.
#pragma once

#include <string>
#include <string_view>

namespace trainwarden::storage {

// "; Azure's storage ..." for the scheme "az"; empty: it is none that we know of.
std::string advice_for_scheme(std::string_view scheme);

}  // namespace trainwarden::storage
