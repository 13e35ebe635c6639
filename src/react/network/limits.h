// The parameters timeout and ca_file, which all actions of the network have.
#pragma once

#include <chrono>

#include "core/exchange/transfer.h"
#include "react/actions/action_kind.h"

namespace trainwarden::network {

// What is wrong with them is returned by parameters.status().
exchange::TransferLimits take_limits(actions::ActionParameters& parameters, std::chrono::milliseconds default_timeout);

}  // namespace trainwarden::network
