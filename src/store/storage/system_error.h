// System errors as Status.
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::storage {

// "cannot create ./runs/x/run.json: No space left on device; ...": what was tried, on what, and the system's reason.
Status system_error(int error_number, std::string_view action, const std::string& path);

}  // namespace trainwarden::storage
