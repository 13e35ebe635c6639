// The version of the library and of the format it writes.
#pragma once

#include <string_view>

#include "trainwarden/export.h"

namespace trainwarden {

inline constexpr int kFormatVersion = 1;
TRAINWARDEN_API std::string_view version();  // "0.1.0"

}  // namespace trainwarden
