// What follows the verdicts of one program's rules: what its user has wired, and the black box.
#pragma once

#include <string>
#include <vector>

#include "react/watch/run_watch.h"
#include "ui/cli/options/action_choice.h"

namespace trainwarden::cli {

// A --on-fire that names no rule means the rules of this program, by their ids: others may judge the same run. Where
// there are rules the black box is written for their alerts. Null when nothing follows.
watch::Subscribe follow_up(ActionWiring wiring, const std::vector<std::string>& rule_ids);

}  // namespace trainwarden::cli
