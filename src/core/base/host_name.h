// host_name: what the machine is called.
#pragma once

#include <string>

namespace trainwarden {

// Without characters that would drive a terminal; empty when the system does not say.
std::string host_name();

}  // namespace trainwarden
