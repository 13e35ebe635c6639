#include "ui/server/http_wire.h"

#include <fmt/format.h>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/status.hpp>

#include "core/base/text.h"

namespace trainwarden::server {
namespace http = boost::beast::http;

HttpRequest head_of(const http::request<http::string_body>& message) {
  HttpRequest request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    request.headers.emplace_back(lower(std::string(field.name_string())), std::string(field.value()));
  }
  return request;
}

HttpRequest take_request(http::request<http::string_body>& message) {
  HttpRequest request = head_of(message);
  request.body = std::move(message.body());
  return request;
}

HttpAnswer answer_of_parse_error(const boost::system::error_code& error) {
  HttpAnswer answer;
  if (error == http::error::header_limit) {
    answer = error_answer(431, name(Code::kResourceExhausted), "the headers of a request may have 16 KiB");
  } else if (error == http::error::body_limit) {
    answer = error_answer(413, name(Code::kResourceExhausted), "the body of a request may have 1 MiB");
  } else {
    answer = error_answer(400, name(Code::kInvalidArgument),
                          fmt::format("this is no HTTP/1.1 request: {}", error.message()));
  }
  answer.add("X-Content-Type-Options", "nosniff");
  return answer;
}

std::string encode_head(const HttpAnswer& answer) {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", answer.status,
                                 std::string(http::obsolete_reason(static_cast<http::status>(answer.status))));
  for (const auto& [name, value] : answer.headers) head += fmt::format("{}: {}\r\n", name, value);
  if (answer.notices) {
    head += "Transfer-Encoding: chunked\r\n";
  } else if (answer.status != 204 && answer.status != 304) {
    head += fmt::format("Content-Length: {}\r\n", answer.body.size());
  }
  if (answer.close) head += "Connection: close\r\n";
  return head + "\r\n";
}

std::string encode_chunk(std::string_view bytes) {
  return fmt::format("{:x}\r\n{}\r\n", bytes.size(), bytes);
}

}  // namespace trainwarden::server
