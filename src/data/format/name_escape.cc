#include "data/format/name_escape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <fmt/format.h>

namespace trainwarden::format {
namespace {

constexpr std::string_view kReservedKey = "__metadata__";

bool is_continuation(std::uint8_t byte) {
  return (byte & 0xC0) == 0x80;
}

// The length of the well-formed UTF-8 sequence at the start of `text`, 0 when there is none (RFC 3629, table of
// section 4: no overlong forms, no surrogates, nothing past U+10FFFF).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(i < text.size() ? text[i] : '\0'); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return is_continuation(byte(1)) ? 2 : 0;
  if (lead >= 0xE0 && lead <= 0xEF) {
    const std::uint8_t lowest = lead == 0xE0 ? 0xA0 : 0x80;
    const std::uint8_t highest = lead == 0xED ? 0x9F : 0xBF;
    return byte(1) >= lowest && byte(1) <= highest && is_continuation(byte(2)) ? 3 : 0;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    const std::uint8_t lowest = lead == 0xF0 ? 0x90 : 0x80;
    const std::uint8_t highest = lead == 0xF4 ? 0x8F : 0xBF;
    return byte(1) >= lowest && byte(1) <= highest && is_continuation(byte(2)) && is_continuation(byte(3)) ? 4 : 0;
  }
  return 0;
}

std::optional<std::uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  return std::nullopt;
}

// Most names are: nothing in them is escaped or could be.
bool is_plain(std::string_view written) {
  const auto is_other = [](char c) { return static_cast<std::uint8_t>(c) >= 0x80 || c == '%'; };
  return written != kReservedKey && std::none_of(written.begin(), written.end(), is_other);
}

std::string escaped(char c) {
  return fmt::format("%{:02X}", static_cast<std::uint8_t>(c));
}

}  // namespace

std::string escape_name(std::string_view name) {
  if (name == kReservedKey) return escaped('_') + std::string(kReservedKey.substr(1));
  std::string written;
  written.reserve(name.size());
  while (!name.empty()) {
    const std::size_t length = name.front() == '%' ? 0 : utf8_length(name);
    if (length == 0) {
      written += escaped(name.front());
      name.remove_prefix(1);
    } else {
      written += name.substr(0, length);
      name.remove_prefix(length);
    }
  }
  return written;
}

Result<std::string> unescape_name(std::string_view written) {
  if (is_plain(written)) return std::string(written);
  std::string name;
  name.reserve(written.size());
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] != '%') {
      name += written[i];
      continue;
    }
    const auto high = i + 2 < written.size() ? hex_digit(written[i + 1]) : std::nullopt;
    const auto low = i + 2 < written.size() ? hex_digit(written[i + 2]) : std::nullopt;
    if (!high || !low) break;  // found out below
    name += static_cast<char>(*high * 16 + *low);
    i += 2;
  }
  if (escape_name(name) != written) {
    return Status(Code::kDataLoss, "a name with a wrong % escape (only bytes that are not UTF-8 and '%' are escaped)");
  }
  return name;
}

Result<std::string> name_field(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string written, string_field(object, field));
  Result<std::string> name = unescape_name(written);
  return name.ok() ? name : name.status().with_context(fmt::format("field \"{}\"", field));
}

Result<std::vector<std::string>> names_field(const Json& object, const char* field) {
  TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<std::string> names, strings_field(object, field));
  for (std::string& name : names) {
    Result<std::string> plain = unescape_name(name);
    if (!plain.ok()) return plain.status().with_context(fmt::format("field \"{}\"", field));
    name = *std::move(plain);
  }
  return names;
}

OrderedJson names_to_json(const std::vector<std::string>& names) {
  OrderedJson array = OrderedJson::array();
  for (const std::string& name : names) array.push_back(escape_name(name));
  return array;
}

}  // namespace trainwarden::format
