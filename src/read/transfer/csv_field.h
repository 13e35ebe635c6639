// A text as a field of a table in CSV.
#pragma once

#include <string>
#include <string_view>

namespace trainwarden::transfer {

// Would a spreadsheet take it for a formula? It does for what begins with = + - @, a tab or a carriage return; a number
// is a number. web/src/draw/files.ts has the same rule for what the page exports.
bool is_formula(std::string_view text);

// With ' before it when it is a formula, and in quotes where it must be (RFC 4180).
std::string csv_field(std::string_view text);

}  // namespace trainwarden::transfer
