// BlackBoxView: what a run's black boxes left, for people and for programs.
#pragma once

#include <cstdio>
#include <vector>

#include "ui/cli/terminal/json_out.h"
#include "ui/views/black_boxes.h"

namespace trainwarden::cli {

// replay.json with "path" in front.
OrderedJson json_of(const views::BlackBoxDump& dump);
// A table; nothing when there are none.
void print_black_boxes(std::FILE* out, const std::vector<views::BlackBoxDump>& dumps);

}  // namespace trainwarden::cli
