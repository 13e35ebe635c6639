#include "core/base/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/base/code_point.h"

namespace trainwarden {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

// Edits (insert, delete, change, swap of neighbours) that turn a into b: optimal string alignment.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t change = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, change});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    std::swap(before_last, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (const std::string_view part = trim(text.substr(0, end)); !part.empty()) parts.emplace_back(part);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

std::optional<double> parse_double(std::string_view text) {
  return parse_number<double>(text);
}

std::optional<std::int64_t> parse_int(std::string_view text) {
  return parse_number<std::int64_t>(text);
}

std::optional<bool> parse_bool(std::string_view text) {
  const std::string word = lower(text);
  if (word == "true" || word == "1" || word == "yes" || word == "on") return true;
  if (word == "false" || word == "0" || word == "no" || word == "off") return false;
  return std::nullopt;
}

std::optional<std::string> nearest(std::string_view typed, std::span<const std::string> candidates) {
  const std::string wanted = lower(typed);
  std::optional<std::string> best;
  std::size_t best_distance = 0;
  for (const std::string& candidate : candidates) {
    // One slip in three letters; more would be guessing.
    const std::size_t limit = std::max<std::size_t>(1, std::min(wanted.size(), candidate.size()) / 3);
    const std::size_t distance = edit_distance(wanted, lower(candidate));
    if (distance <= limit && (!best || distance < best_distance)) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string did_you_mean(std::string_view typed, std::span<const std::string> candidates) {
  const std::optional<std::string> candidate = nearest(typed, candidates);
  return candidate ? fmt::format("; did you mean \"{}\"?", *candidate) : "";
}

std::string format_bytes(std::uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  // What would be shown as 1024.0 is shown as 1.0 of the next unit.
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string format_duration_ns(std::int64_t ns) {
  if (ns < 0) return "-" + format_duration_ns(ns == INT64_MIN ? INT64_MAX : -ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  const double value = static_cast<double>(ns);
  if (value < 999.95e3) return fmt::format("{:.1f} µs", value / 1e3);
  if (value < 999.95e6) return fmt::format("{:.1f} ms", value / 1e6);
  if (value < 59.95e9) return fmt::format("{:.1f} s", value / 1e9);
  const std::int64_t seconds = std::llround(value / 1e9);
  if (seconds < 3600) return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  const std::int64_t minutes = std::llround(value / 60e9);
  if (minutes < 24 * 60) return fmt::format("{} h {} min", minutes / 60, minutes % 60);
  const std::int64_t hours = std::llround(value / 3600e9);
  return fmt::format("{} d {} h", hours / 24, hours % 24);
}

std::string printable(std::string_view text) {
  const auto is_plain = [](char c) { return c >= ' ' && c <= '~'; };
  if (std::all_of(text.begin(), text.end(), is_plain)) return std::string(text);  // as tables of a million rows are
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    if (point.bytes > 0 && !drives_terminal(point.value)) {
      result += text.substr(0, bytes);
    } else {
      for (const char c : text.substr(0, bytes)) {
        fmt::format_to(std::back_inserter(result), "\\x{:02X}", static_cast<unsigned char>(c));
      }
    }
    text.remove_prefix(bytes);
  }
  return result;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    if (point.bytes == 0) return false;
    text.remove_prefix(point.bytes);
  }
  return true;
}

std::string with_valid_utf8(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::size_t bytes = std::max<std::size_t>(point.bytes, 1);
    result += point.bytes > 0 ? text.substr(0, bytes) : std::string_view("\uFFFD");
    text.remove_prefix(bytes);
  }
  return result;
}

std::u32string to_utf32(std::string_view text) {
  std::u32string result;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    result += point.bytes > 0 ? point.value : U'\ufffd';
    text.remove_prefix(std::max<std::size_t>(point.bytes, 1));
  }
  return result;
}

}  // namespace trainwarden
