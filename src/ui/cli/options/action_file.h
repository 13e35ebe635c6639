// An action file, looked at without a run: what it would do, and whether its actions arrive.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "react/actions/action.h"
#include "react/delivery/subscription.h"

namespace trainwarden::cli {

// Prints what leads to which action, and where secrets are. Returns the exit code: 1 when a secret cannot be read now,
// 2 when an action is for a rule that neither exists nor is one of `own_rules`, which are specs as --rule takes them.
int check_action_file(const std::string& file, const std::vector<std::string>& own_rules, bool as_json);

// Sends an alert that says it is a test to each subscription, or to the one with this name, and prints what came of it.
// Actions that act on a training are left out. Returns the exit code: 1 when one of them has not arrived.
int test_action_file(const std::string& file, const std::string& name, const std::vector<std::string>& own_rules,
                     bool as_json);

// "delivered", "would be given up", ...
std::string_view outcome_name(const actions::ActionOutcome& outcome);
// "ops (webhook https://example.com): delivered, 204"
std::string outcome_line(const delivery::Subscription& subscription, const actions::ActionOutcome& outcome);

}  // namespace trainwarden::cli
