#include "ui/answers/request_body.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "data/format/parse_json.h"

namespace trainwarden::answers {

using format::Json;

constexpr std::size_t kMostReasonBytes = 500;

Status bad_body(std::string_view field, std::string_view expected) {
  return Status(Code::kInvalidArgument, fmt::format("body: expected {} in \"{}\"", expected, field));
}

Result<Json> body_of(const Request& request) {
  Result<Json> body = format::parse_json(request.body, "body");
  if (body.ok() && body->is_object()) return body;
  return Status(Code::kInvalidArgument, body.ok() ? "body: expected a JSON object" : body.status().message());
}

Result<std::string> reason_of(const Request& request) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const Json body, body_of(request));
  for (const auto& [field, value] : body.items()) {
    if (field == "reason") continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("body: there is no field \"{}\" here; the only one is \"reason\"", printable(field)));
  }
  const auto reason = body.find("reason");
  if (reason == body.end()) return std::string("somebody asked for it on the page");
  if (!reason->is_string()) return bad_body("reason", "a text");
  std::string text = reason->get<std::string>();
  if (text.empty() || text.size() > kMostReasonBytes) return bad_body("reason", "a text of 1 to 500 bytes");
  return text;
}

}  // namespace trainwarden::answers
