#include "react/match/json_number.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <system_error>

namespace trainwarden::match {
namespace {

// Whether a number that is out of a double's range is out of it upwards: its digits say where its first one stands.
bool is_huge(std::string_view text) {
  const std::size_t mark = text.find_first_of("eE");
  const std::string_view digits = text.substr(0, mark);
  std::int64_t exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view written = text.substr(mark + 1);
    if (written.front() == '+') written.remove_prefix(1);
    if (std::from_chars(written.data(), written.data() + written.size(), exponent).ec != std::errc()) {
      return written.front() != '-';  // no text is long enough to make up for such an exponent
    }
  }
  const std::size_t first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return false;
  const std::size_t point = std::min(digits.find('.'), digits.size());
  return exponent + static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first) > 0;
}

}  // namespace

double number_of(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc()) return value;
  const double magnitude = is_huge(text) ? std::numeric_limits<double>::infinity() : 0;
  return text.front() == '-' ? -magnitude : magnitude;
}

}  // namespace trainwarden::match
