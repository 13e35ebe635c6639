#include "data/format/compact_json.h"

namespace trainwarden::format {

bool CompactJson::take(std::string_view written) {
  if (!left_.starts_with(written)) return false;
  left_.remove_prefix(written.size());
  return true;
}

std::optional<std::uint64_t> CompactJson::take_number() {
  constexpr std::size_t kMaxDigits = 18;
  std::uint64_t number = 0;
  std::size_t digits = 0;
  for (; digits < left_.size() && left_[digits] >= '0' && left_[digits] <= '9'; ++digits) {
    if (digits == kMaxDigits) return std::nullopt;
    number = number * 10 + static_cast<std::uint64_t>(left_[digits] - '0');
  }
  if (digits == 0 || (digits > 1 && left_.front() == '0')) return std::nullopt;
  left_.remove_prefix(digits);
  return number;
}

std::optional<std::string_view> CompactJson::take_string() {
  if (!left_.starts_with('"')) return std::nullopt;
  for (std::size_t i = 1; i < left_.size(); ++i) {
    const char c = left_[i];
    if (c == '"') {
      const std::string_view text = left_.substr(1, i - 1);
      left_.remove_prefix(i + 1);
      return text;
    }
    if (c < ' ' || c > '~' || c == '\\') return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace trainwarden::format
