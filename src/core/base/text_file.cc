#include "core/base/text_file.h"

#include <fstream>
#include <iterator>
#include <sstream>

#include "core/base/text.h"

namespace trainwarden {

std::optional<std::string> read_text_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::error_code ignored;
  if (!stream || std::filesystem::is_directory(file, ignored)) return std::nullopt;
  return std::string((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
}

std::vector<std::string> lines_that_count(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    const std::string_view trimmed = trim(line);
    if (!trimmed.empty() && trimmed.front() != '#') lines.emplace_back(trimmed);
  }
  return lines;
}

}  // namespace trainwarden
