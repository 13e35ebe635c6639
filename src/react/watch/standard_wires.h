// The wires that a program gets without a file: stop when one of its rules fires, and what led to it.
#pragma once

#include <string>
#include <vector>

#include "react/delivery/wiring.h"

namespace trainwarden::watch {

// Alerts of these rules have the black box written, where the training has one.
delivery::Wire black_box_wire(std::vector<std::string> rule_ids);
// Alerts of these rules stop the training.
delivery::Wire stop_wire(std::vector<std::string> rule_ids);

}  // namespace trainwarden::watch
