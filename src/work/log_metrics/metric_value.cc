#include "work/log_metrics/metric_value.h"

#include <algorithm>
#include <string>

#include "core/base/text.h"

namespace trainwarden::log_metrics {
namespace {

// "1,234,567.8" without its commas; as it was when they do not group by three.
std::string without_thousands(std::string_view text) {
  const std::size_t first = text.find_first_of("0123456789");
  const std::size_t end = std::min(text.find_first_not_of("0123456789,", std::min(first, text.size())), text.size());
  std::string plain(text.substr(0, std::min(first, text.size())));
  std::size_t digits = 0;
  for (std::size_t i = plain.size(); i < end; ++i) {
    const std::size_t left = end - i - 1;  // what follows a comma is groups of three, with a comma before each next one
    if (text[i] == ',') {
      if (digits == 0 || digits > 3 || left % 4 != 3) return std::string(text);
      digits = 0;
    } else {
      ++digits;
      plain += text[i];
    }
  }
  return plain += text.substr(end);
}

}  // namespace

std::optional<double> parse_metric_value(std::string_view text, NumberForm form) {
  text = trim(text);
  if (form.percent && text.ends_with('%')) text = trim(text.substr(0, text.size() - 1));
  if (text.find('(') != std::string_view::npos) return std::nullopt;  // "nan(tag)" is C's, not a log's
  if (form.thousands && text.find(',') != std::string_view::npos) return parse_double(without_thousands(text));
  return parse_double(text);
}

}  // namespace trainwarden::log_metrics
