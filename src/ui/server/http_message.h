// What came over HTTP and what goes back, without sockets.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::server {

using Headers = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method;  // "GET"
  std::string target;  // "/api/v1/about?x=1", as it came
  Headers headers;     // names in lower case
  std::string body;

  // The first of this name, "" when there is none.
  std::string_view header(std::string_view name) const;
  std::size_t count(std::string_view name) const;
};

struct HttpAnswer {
  unsigned status = 200;
  Headers headers;
  std::shared_ptr<const std::string> owner;  // of the bytes of `body`; none when they live as long as the program
  std::string_view body;
  bool close = false;  // the connection ends with this answer
  // In place of a body: notices for as long as the client listens, beginning behind this one.
  bool notices = false;
  std::uint64_t last_notice = 0;

  void add(std::string name, std::string value) { headers.emplace_back(std::move(name), std::move(value)); }
  void set_body(std::shared_ptr<const std::string> bytes);
  // "" when there is none.
  std::string_view header(std::string_view name) const;
};

// {"error": {"code", "message"}}, which is what every failed request is answered with. The message may hold what the
// client sent.
HttpAnswer error_answer(unsigned status, std::string_view code, std::string_view message);
HttpAnswer error_answer(const Status& status);
// The HTTP status that fits; route.h has the table.
unsigned http_status_of(Code code);

}  // namespace trainwarden::server
