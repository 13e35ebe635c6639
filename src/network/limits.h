// The parameters timeout and ca_file, which all actions of the network have.
#pragma once

#include <chrono>

#include "actions/action_kind.h"
#include "network/transfer.h"

namespace trainwarden::network {

// What is wrong with them is told by parameters.status().
TransferLimits take_limits(actions::ActionParameters& parameters, std::chrono::milliseconds default_timeout);

}  // namespace trainwarden::network
