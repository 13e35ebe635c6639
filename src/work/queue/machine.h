// What this machine has for jobs.
#pragma once

#include "work/queue/placing.h"

namespace trainwarden::queue {

// The processors that this process may use, NVIDIA's GPUs by number, and the memory, also where a container has less
// than the machine.
Capacity this_machine();

}  // namespace trainwarden::queue
