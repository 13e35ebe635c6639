#include "judge/rules/language/source_error.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace trainwarden::rules::language {
namespace {

constexpr std::size_t kShownBefore = 60;
constexpr std::size_t kShownAfter = 60;

// How many columns it takes on the terminal, near enough.
std::size_t columns(std::string_view text) {
  return to_utf32(printable(text)).size();
}

// Not within a UTF-8 sequence.
std::size_t character_start(std::string_view text, std::size_t at) {
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

}  // namespace

Status source_error(std::string_view text, Place place, std::string_view what) {
  const std::size_t begin = character_start(text, std::min(place.begin, text.size()));
  const std::size_t line_begin = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;  // npos + 1 is 0
  const std::size_t line_end = std::min(text.find('\n', begin), text.size());
  const auto line_number = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n');
  const std::size_t end = std::clamp(place.end, begin, line_end);

  const std::size_t shown_begin =
      begin - line_begin > kShownBefore ? character_start(text, begin - kShownBefore) : line_begin;
  const std::size_t shown_end =
      line_end > end && line_end - end > kShownAfter ? character_start(text, end + kShownAfter) : line_end;
  const std::string_view before = text.substr(shown_begin, begin - shown_begin);
  const std::string_view marked = text.substr(begin, end - begin);
  const std::string_view after = text.substr(end, shown_end - end);
  return Status(Code::kInvalidArgument,
                fmt::format("line {}, column {}: {}\n  {}{}{}\n  {}{}", line_number,
                            columns(text.substr(line_begin, begin - line_begin)) + 1, what, printable(before),
                            printable(marked), printable(after), std::string(columns(before), ' '),
                            std::string(std::max<std::size_t>(columns(marked), 1), '^')));
}

}  // namespace trainwarden::rules::language
