// Rounds float32 master weights to the parameters that a model computes with.
#pragma once

#include <cstdint>

#include "training/optimizer.h"

namespace bert {

// Nothing to do where the parameter is float32, since it is its own master.
void round_to_parameter(const Slot& slot);
// The same for `count` numbers from `begin`, on a CPU; threads may round different parts.
void round_to_parameter(const Slot& slot, std::int64_t begin, std::int64_t count);

}  // namespace bert
