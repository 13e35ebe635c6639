// The version of the library, and the newest format of runs that it reads and writes.
#pragma once

#include <string_view>

#include "trainwarden/export.h"

namespace trainwarden {

inline constexpr int kFormatVersion = 2;
TRAINWARDEN_API std::string_view version();  // "0.1.0"

}  // namespace trainwarden
