// Rules, black boxes and what-ifs as JSON.
#pragma once

#include <string>
#include <vector>

#include "data/format/json.h"
#include "ui/views/black_boxes.h"
#include "ui/views/rule_board.h"
#include "ui/views/what_if.h"

namespace trainwarden::answers {

format::OrderedJson json_of(const views::RuleOnBoard& rule);
// A rule that comes with Trainwarden: {"rule", "summary", "topic", "details", "source", "parameters"}.
format::OrderedJson json_of(const RuleDescription& description);
format::OrderedJson json_of(const views::WhatIf& what_if);
format::OrderedJson json_of(const views::BlackBoxDump& box, const std::string& run_name);

}  // namespace trainwarden::answers
