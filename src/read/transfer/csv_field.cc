#include "read/transfer/csv_field.h"

#include "core/base/text.h"

namespace trainwarden::transfer {

bool is_formula(std::string_view text) {
  return text.find_first_of("=+-@\t\r") == 0 && !parse_double(text);
}

std::string csv_field(std::string_view text) {
  const std::string guarded = (is_formula(text) ? "'" : "") + std::string(text);
  if (guarded.find_first_of(",\"\r\n") == std::string::npos) return guarded;
  std::string quoted = "\"";
  for (const char c : guarded) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

}  // namespace trainwarden::transfer
