// Strings packed into staging memory: their lengths as 64-bit numbers, then their bytes one after the other.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/bytes.h"

namespace trainwarden::capture {

std::size_t packed_string_bytes(std::span<const std::string_view> strings);
// `destination` has exactly that many bytes.
void pack_strings(std::span<const std::string_view> strings, MutableByteSpan destination);
// `packed` is what pack_strings made of `count` strings.
std::vector<std::string> unpack_strings(ByteSpan packed, std::size_t count);

}  // namespace trainwarden::capture
