// Reads one item of a leaf's list: a value, or an operator such as {"prefix": "a"}.
#pragma once

#include <optional>
#include <string_view>

#include "react/match/pattern_reader.h"
#include "react/match/pattern_tree.h"

namespace trainwarden::match {

// Nothing when it is wrong; the reader has the reason then.
std::optional<Clause> read_clause(PatternReader& reader);

// Names that a field of an object within "$or" cannot have, because operators have them, or may have them one day.
bool is_reserved_name(std::string_view name);

}  // namespace trainwarden::match
