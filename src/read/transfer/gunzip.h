// What gzip compressed, as it was. The library is loaded when that is first wanted: no training needs it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::transfer {

// kDataLoss for what is no gzip, or damaged; kResourceExhausted when it becomes larger than `most_bytes`; kUnavailable
// where zlib is not installed.
Result<std::string> gunzip(std::string_view packed, std::uint64_t most_bytes);

}  // namespace trainwarden::transfer
