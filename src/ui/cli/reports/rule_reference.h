// The reference of the rules, from the same table as everything else: docs/reference/builtin-rules.md.
#pragma once

#include <string>
#include <vector>

#include "trainwarden/rule.h"

namespace trainwarden::cli {

// Markdown: a table of all, then a chapter for each topic and a section for each rule.
std::string rule_reference(const std::vector<RuleDescription>& rules);

}  // namespace trainwarden::cli
