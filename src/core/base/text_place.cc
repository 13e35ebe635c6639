#include "core/base/text_place.h"

#include <algorithm>

#include <fmt/format.h>

namespace trainwarden {

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t last_break = before.rfind('\n');
  const std::size_t column = before.size() - (last_break == std::string_view::npos ? 0 : last_break + 1) + 1;
  return fmt::format("line {}, column {}", line, column);
}

}  // namespace trainwarden
