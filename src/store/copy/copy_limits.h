// What a copy may take of this machine, whatever it finds.
#pragma once

#include <string>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/copy/copy_end.h"

namespace trainwarden::copy {

// Some 200 bytes of memory each.
inline constexpr std::size_t kMaxCopiedFiles = 5'000'000;

inline Status check_file_count(const CopyListing& listing, const std::string& place) {
  if (listing.files.size() <= kMaxCopiedFiles) return {};
  return Status(Code::kResourceExhausted, fmt::format("{} has more than {} files; copy the folders in it one by one",
                                                      printable(place), kMaxCopiedFiles));
}

}  // namespace trainwarden::copy
