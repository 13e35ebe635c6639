#include "hook/capture/config/json_text.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/parse_json.h"

namespace trainwarden::capture {
namespace {

using nlohmann::json;

// `byte` counts from 1, as nlohmann::json does.
std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0
  return fmt::format("line {}, column {}", line, before.size() - line_start + 1);
}

// The reason without the library's own prefix: "... while parsing value - invalid literal; last read: 'x'".
std::string reason_of(const json::parse_error& error) {
  const std::string_view text = error.what();
  constexpr std::string_view kBeforeReason = "syntax error ";
  const std::size_t start = text.find(kBeforeReason);
  return printable(start == std::string_view::npos ? text : text.substr(start + kBeforeReason.size()));
}

}  // namespace

Result<json> parse_json(std::string_view text) {
  const Status limits = format::check_json_limits(text, "the text");
  if (!limits.ok()) return Status(Code::kInvalidArgument, limits.message());
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{}: not JSON: {}", line_and_column(text, error.byte), reason_of(error)));
  } catch (const json::out_of_range&) {
    // A number that no double holds; the parser does not say where.
    return Status(Code::kInvalidArgument, "it holds a number too large for any setting, like 1e999");
  }
}

}  // namespace trainwarden::capture
