// The reference of the actions, from the same table as everything else: docs/reference/builtin-actions.md.
#pragma once

#include <string>
#include <vector>

#include "react/actions/action_kind.h"

namespace trainwarden::cli {

// Markdown: a table of all, then a section for each.
std::string action_reference(const std::vector<actions::ActionKind>& kinds);

}  // namespace trainwarden::cli
