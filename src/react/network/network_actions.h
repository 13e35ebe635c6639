// The actions that go over a network: webhook, slack, mail. Only the command-line program has them; the library that a
// training loads does not link them.
#pragma once

#include <vector>

#include "react/actions/action_kind.h"

namespace trainwarden::network {

const std::vector<actions::ActionKind>& network_action_kinds();

}  // namespace trainwarden::network
