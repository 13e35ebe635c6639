#include "tune/optuna/python_json.h"

#include <fmt/format.h>

namespace trainwarden::tune {
namespace {

constexpr std::string_view kNoNumbers[] = {"-Infinity", "Infinity", "NaN"};

// The length of a text that begins here, with its quotes.
std::size_t text_length(std::string_view text) {
  std::size_t i = 1;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

}  // namespace

std::string quoted_numbers(std::string_view text) {
  std::string quoted;
  while (!text.empty()) {
    std::size_t taken = text.front() == '"' ? text_length(text) : 1;
    bool is_no_number = false;
    for (const std::string_view word : kNoNumbers) {
      if (is_no_number || !text.starts_with(word)) continue;
      is_no_number = true;
      taken = word.size();
    }
    quoted += is_no_number ? fmt::format("\"{}\"", text.substr(0, taken)) : std::string(text.substr(0, taken));
    text.remove_prefix(taken);
  }
  return quoted;
}

Result<format::Json> python_object(std::string_view text, std::string_view what) {
  return format::parse_json_object(quoted_numbers(text), what);
}

Result<std::vector<std::string>> python_texts(std::string_view text, std::string_view what) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const format::Json json, python_object(fmt::format("{{\"list\": {}}}", text), what));
  return format::strings_field(json, "list");
}

}  // namespace trainwarden::tune
