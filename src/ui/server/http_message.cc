#include "ui/server/http_message.h"

#include <algorithm>

#include "core/base/text.h"
#include "data/format/json.h"

namespace trainwarden::server {
namespace {

std::string_view find_header(const Headers& headers, std::string_view name) {
  const auto found = std::find_if(headers.begin(), headers.end(), [&](const auto& header) {
    return header.first.size() == name.size() && lower(header.first) == lower(name);
  });
  return found == headers.end() ? std::string_view() : found->second;
}

}  // namespace

std::string_view HttpRequest::header(std::string_view name) const {
  return find_header(headers, name);
}

std::size_t HttpRequest::count(std::string_view name) const {
  return static_cast<std::size_t>(
      std::count_if(headers.begin(), headers.end(), [&](const auto& header) { return header.first == name; }));
}

void HttpAnswer::set_body(std::shared_ptr<const std::string> bytes) {
  owner = std::move(bytes);
  body = *owner;
}

std::string_view HttpAnswer::header(std::string_view name) const {
  return find_header(headers, name);
}

HttpAnswer error_answer(unsigned status, std::string_view code, std::string_view message) {
  format::OrderedJson document;
  document["error"]["code"] = code;
  document["error"]["message"] = message;
  HttpAnswer answer;
  answer.status = status;
  answer.add("Content-Type", "application/json");
  answer.add("Cache-Control", "no-store");
  answer.set_body(std::make_shared<const std::string>(format::dump_json(document)));
  return answer;
}

HttpAnswer error_answer(const Status& status) {
  return error_answer(http_status_of(status.code()), name(status.code()), status.message());
}

unsigned http_status_of(Code code) {
  switch (code) {
    case Code::kInvalidArgument: return 400;
    case Code::kPermissionDenied: return 403;
    case Code::kNotFound:
    case Code::kOutOfRange: return 404;
    case Code::kAlreadyExists:
    case Code::kFailedPrecondition: return 409;
    case Code::kResourceExhausted: return 413;
    case Code::kUnimplemented: return 501;
    case Code::kUnavailable: return 503;
    case Code::kDeadlineExceeded: return 504;
    default: return 500;
  }
}

}  // namespace trainwarden::server
