// The parameters timeout and ca_file, which all actions of the network have.
#pragma once

#include <chrono>

#include "react/actions/action_kind.h"
#include "react/network/transfer.h"

namespace trainwarden::network {

// What is wrong with them is returned by parameters.status().
TransferLimits take_limits(actions::ActionParameters& parameters, std::chrono::milliseconds default_timeout);

}  // namespace trainwarden::network
