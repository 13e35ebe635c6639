#include "core/base/toml_document.h"

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden {
namespace {

// What no TOML has anywhere.
Status check_characters(std::string_view text, const std::filesystem::path& file) {
  if (!is_utf8(text)) {
    return Status(Code::kInvalidArgument, fmt::format("{}: expected UTF-8", printable(file.string())));
  }
  const auto* const found = std::find_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f;
  });
  if (found == text.end()) return {};
  return Status(Code::kInvalidArgument,
                fmt::format("{}, line {}: no TOML: found the control character {}", printable(file.string()),
                            std::count(text.begin(), found, '\n') + 1, printable(std::string(1, *found))));
}

}  // namespace

std::string place_in(const std::filesystem::path& file, const toml::source_region& source) {
  return fmt::format("{}, line {}", printable(file.string()), source.begin.line);
}

std::string place_in(const std::filesystem::path& file, const toml::node& node) {
  return place_in(file, node.source());
}

Result<toml::table> parse_toml(std::string_view text, const std::filesystem::path& file) {
  TRAINWARDEN_RETURN_IF_ERROR(check_characters(text, file));
  toml::parse_result parsed = toml::parse(text, file.string());
  if (!parsed) {
    return Status(Code::kInvalidArgument, fmt::format("{}: no TOML: {}", place_in(file, parsed.error().source()),
                                                      printable(parsed.error().description())));
  }
  return std::move(parsed).table();
}

Result<std::string> read_toml_text(const std::filesystem::path& file, std::string_view expected) {
  std::error_code error;
  const std::uintmax_t bytes = std::filesystem::file_size(file, error);
  if (error) {
    const Code code = error == std::errc::no_such_file_or_directory ? Code::kNotFound : Code::kInvalidArgument;
    return Status(code, fmt::format("{}: expected {}: {}", printable(file.string()), expected, error.message()));
  }
  if (bytes > kMaxTomlBytes) {
    return Status(Code::kInvalidArgument, fmt::format("{}: expected at most {}, found {}", printable(file.string()),
                                                      format_bytes(kMaxTomlBytes), format_bytes(bytes)));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  if (!stream) {
    return Status(Code::kPermissionDenied,
                  fmt::format("{}: cannot be read; look at its permissions", printable(file.string())));
  }
  return text;
}

}  // namespace trainwarden
