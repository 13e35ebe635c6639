// Refuses actions for rules that nobody has: they would wait forever, and a training that was to be stopped would go
// on.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "trainwarden/status.h"
#include "ui/cli/options/action_choice.h"

namespace trainwarden::cli {

// `own`: the ids of the rules that judge here, which may be of the user's own. kInvalidArgument: the place of a wire
// for a rule that is neither one of them nor comes with Trainwarden, with the nearest names.
Status check_named_rules(const ActionWiring& wiring, std::span<const std::string> own);

// A sentence for each rule that `wire` waits for and that does not come with Trainwarden. It may be meant: a later job
// may have a rule of its own.
std::vector<std::string> rules_of_others(const delivery::Wire& wire);

// A sentence for each wire that waits for rules of which none judges here. It may be meant: a file serves many runs.
std::vector<std::string> idle_wires(const ActionWiring& wiring, std::span<const std::string> judging);

// Both: refuses, or says the sentences on standard error.
Status check_rules_of_actions(const ActionWiring& wiring, std::span<const std::string> judging);

}  // namespace trainwarden::cli
