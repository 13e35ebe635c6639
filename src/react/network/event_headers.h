// A CloudEvent in binary mode: its attributes as headers of HTTP, its data as the body.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::network {

struct BinaryEvent {
  std::vector<std::pair<std::string, std::string>> headers;  // "ce-id", ...
  std::string content_type;                                  // of the data
  std::string body;
};

// Of a CloudEvents document in structured mode whose data are JSON. kInvalidArgument when it is none.
Result<BinaryEvent> to_binary(std::string_view document);

// As the HTTP binding wants values of headers: bytes other than visible ASCII, and " and %, become %XX.
std::string percent_encode(std::string_view value);

}  // namespace trainwarden::network
