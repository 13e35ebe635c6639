// Versions of the format of a run. A reader refuses those that it does not know.
#pragma once

#include "trainwarden/version.h"

namespace trainwarden::journal {

inline constexpr int kPlainVersion = 1;
inline constexpr int kCompressedVersion = 2;  // payloads may be compressed (data/format/compression.h)
inline constexpr int kNewestVersion = kFormatVersion;

}  // namespace trainwarden::journal
