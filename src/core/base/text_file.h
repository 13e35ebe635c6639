// A text file that a user names: small, read whole.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trainwarden {

// None when there is no such file, it is a folder or it cannot be read.
std::optional<std::string> read_text_file(const std::filesystem::path& file);

// The lines of such a text that say something: trimmed, without empty ones and those that begin with #.
std::vector<std::string> lines_that_count(std::string_view text);

}  // namespace trainwarden
