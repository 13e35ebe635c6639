// Words: the words of a line, and the lines of a text, as the kernel writes them; without copies.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

namespace trainwarden::machine {

// The next line, without its end; nothing behind the last. The kernel ends each line: one without its end is cut off,
// its last number too, and is left out.
inline std::optional<std::string_view> next_line(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return line;
}

// The next word between spaces and tabs; empty behind the last.
inline std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t start = line.find_first_not_of(kBlanks);
  if (start == std::string_view::npos) {
    line = {};
    return {};
  }
  const std::size_t end = std::min(line.find_first_of(kBlanks, start), line.size());
  const std::string_view word = line.substr(start, end - start);
  line.remove_prefix(end);
  return word;
}

inline std::string_view nth_word(std::string_view line, int index) {
  for (; index > 0; --index) next_word(line);
  return next_word(line);
}

// All of the word, from digits only; nothing where it is no such number.
inline std::optional<std::uint64_t> to_number(std::string_view word) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (word.empty() || error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return number;
}

inline std::optional<std::uint64_t> next_number(std::string_view& line) {
  return to_number(next_word(line));
}

// The number behind a line's first word: "oom_kill 1", "MemFree:   12 kB".
inline std::optional<std::uint64_t> number_behind(std::string_view text, std::string_view key) {
  while (auto line = next_line(text)) {
    if (line->starts_with(key) && next_word(*line) == key) return next_number(*line);
  }
  return std::nullopt;
}

// The number that is all of a text.
inline std::optional<std::uint64_t> only_number(std::string_view text) {
  auto line = next_line(text);
  if (!line) return std::nullopt;
  return to_number(next_word(*line));
}

}  // namespace trainwarden::machine
