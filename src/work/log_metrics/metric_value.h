// The number that a group of a metric's pattern has caught.
#pragma once

#include <optional>
#include <string_view>

namespace trainwarden::log_metrics {

struct NumberForm {
  bool percent = false;    // a sign of percent may follow: "12.5%" is 12.5
  bool thousands = false;  // commas may group digits by three: "1,234.5" is 1234.5
};

// Decimal, with a sign, a point and an exponent where they are; "nan", "inf", "infinity" in any case. Blanks around it
// do not count. Nothing when `text` is anything else: "1.2.3", ".", "0x1f", "1e999", "".
std::optional<double> parse_metric_value(std::string_view text, NumberForm form = {});

}  // namespace trainwarden::log_metrics
