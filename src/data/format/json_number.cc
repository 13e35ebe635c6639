#include "data/format/json_number.h"

#include <cmath>
#include <limits>

#include <fmt/format.h>

namespace trainwarden::format {

OrderedJson json_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}

Result<double> number_field(const Json& object, const char* field) {
  const auto found = object.find(field);
  if (found != object.end() && found->is_number()) return found->get<double>();
  const std::string text = found != object.end() && found->is_string() ? found->get<std::string>() : "";
  if (text == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (text == "Infinity") return std::numeric_limits<double>::infinity();
  if (text == "-Infinity") return -std::numeric_limits<double>::infinity();
  return Status(Code::kDataLoss,
                fmt::format("field \"{}\": expected a number, \"NaN\", \"Infinity\" or \"-Infinity\"", field));
}

}  // namespace trainwarden::format
