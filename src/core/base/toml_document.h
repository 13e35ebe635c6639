// TOML documents that users write: read whole, refused with the line that is wrong.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/toml.h"
#include "trainwarden/status.h"

namespace trainwarden {

// "FILE, line 7", for messages.
std::string place_in(const std::filesystem::path& file, const toml::source_region& source);
std::string place_in(const std::filesystem::path& file, const toml::node& node);

// kInvalidArgument for what is no TOML, no UTF-8, or holds control characters; `file` is for messages.
Result<toml::table> parse_toml(std::string_view text, const std::filesystem::path& file);
inline constexpr std::uint64_t kMaxTomlBytes = std::uint64_t{1} << 20;

// Of kMaxTomlBytes at most. `expected` says what the file should be, "a TOML file with [[on]] tables". kNotFound,
// kPermissionDenied, kInvalidArgument.
Result<std::string> read_toml_text(const std::filesystem::path& file, std::string_view expected);

}  // namespace trainwarden
