// HTTP client: one POST to a target that may be slow, broken or hostile.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/exchange/transfer.h"
#include "react/network/target_url.h"
#include "trainwarden/status.h"

namespace trainwarden::network {

struct PostRequest {
  TargetUrl target;
  std::vector<std::pair<std::string, std::string>> headers;  // besides what HTTP itself needs
  std::string body;
};

struct PostAnswer {
  int status = 0;
  std::string body;  // its beginning, at most kAnswerBodyKept bytes
  std::optional<std::chrono::milliseconds> retry_after;
};

inline constexpr std::size_t kAnswerBodyKept = 1024;
inline constexpr std::size_t kAnswerBodyRead = 64 * 1024;  // then the connection is closed
inline constexpr std::size_t kAnswerHeadersRead = 64 * 1024;
inline constexpr std::chrono::milliseconds kLongestRetryAfter{24 * 3'600'000};

// The answer as soon as its headers are whole: they say whether the request was taken, so a body that breaks off, never
// ends or is too long changes nothing. A redirect is an answer and is not followed: a POST that is sent on is a GET for
// some servers, and would carry the token to somebody else. An error (codes of Transfer::perform(), and
// kInvalidArgument for a header that is none) means that there was no answer; the request may have been received.
// From any thread.
Result<PostAnswer> post(const PostRequest& request, exchange::TransferLimits limits, const std::stop_token& stop);

// A header's name and value that can be sent as they are.
bool is_header_name(std::string_view name);
bool is_header_value(std::string_view value);

}  // namespace trainwarden::network
