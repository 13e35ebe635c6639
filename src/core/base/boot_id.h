// The identity of the running system: processes with the same one see one another's locks.
#pragma once

#include <string>

namespace trainwarden {

// As the kernel reports it (/proc/sys/kernel/random/boot_id): the same in all containers of a machine, another after
// each start. Empty where it does not. From any thread.
const std::string& boot_id();

}  // namespace trainwarden
