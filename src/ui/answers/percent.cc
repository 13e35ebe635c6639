#include "ui/answers/percent.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::answers {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Status bad_escape(std::string_view text) {
  return Status(
      Code::kInvalidArgument,
      fmt::format("\"{}\" is not text escaped with %: two hexadecimal digits behind each %, UTF-8, no zero byte",
                  printable(text.substr(0, 200))));
}

}  // namespace

std::string encode_percent(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' || c == '_';
    escaped += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return escaped;
}

Result<std::string> decode_percent(std::string_view text, bool plus_is_space) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return bad_escape(text);
      const int high = digit_of(text[i + 1]);
      const int low = digit_of(text[i + 2]);
      if (high < 0 || low < 0 || high + low == 0) return bad_escape(text);
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      decoded += text[i];
    }
  }
  if (!is_utf8(decoded)) return bad_escape(text);
  return decoded;
}

}  // namespace trainwarden::answers
