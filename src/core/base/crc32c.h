// CRC-32C (Castagnoli, polynomial 0x1EDC6F41, reflected; RFC 3720 appendix B.4).
#pragma once

#include <cstdint>

#include "core/base/bytes.h"

namespace trainwarden {

// The CRC of `bytes`, or of everything before followed by `bytes` when `before` is the CRC so far.
// Uses the CPU's instruction where there is one.
std::uint32_t crc32c(ByteSpan bytes, std::uint32_t before = 0);

// The same by table, on any CPU. For tests and as the fallback.
std::uint32_t crc32c_portable(ByteSpan bytes, std::uint32_t before = 0);

// Whether crc32c() runs on the CPU's own instruction here.
bool crc32c_in_hardware();

}  // namespace trainwarden
