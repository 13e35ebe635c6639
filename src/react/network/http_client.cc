#include "react/network/http_client.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "core/base/text.h"
#include "trainwarden/version.h"

namespace trainwarden::network {
namespace {

// Takes in an answer as it comes.
struct Reader {
  PostAnswer answer;
  std::size_t header_bytes = 0;
  std::size_t body_bytes = 0;
  bool headers_whole = false;  // of the final answer, not of a 100 Continue before it
  int status = 0;
};

// "HTTP/1.1 204 No Content"
int status_of_line(std::string_view line) {
  const std::size_t blank = line.find(' ');
  if (blank == std::string_view::npos) return 0;
  return static_cast<int>(parse_int(line.substr(blank + 1, 3)).value_or(0));
}

std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* target) {
  auto& reader = *static_cast<Reader*>(target);
  const std::string_view line(bytes, count);
  reader.header_bytes += count;
  if (line.starts_with("HTTP/")) reader.status = status_of_line(line);
  // After the answer of a proxy to CONNECT the target's own follows; it is not among these lines.
  if (trim(line).empty() && reader.status >= 200) reader.headers_whole = true;
  return reader.header_bytes > kAnswerHeadersRead ? 0 : count;
}

std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* target) {
  auto& reader = *static_cast<Reader*>(target);
  const std::size_t room = kAnswerBodyKept - reader.answer.body.size();
  reader.answer.body.append(bytes, std::min(room, count));
  reader.body_bytes += count;
  return reader.body_bytes > kAnswerBodyRead ? 0 : count;
}

Status add_headers(const PostRequest& request, exchange::CurlList& list) {
  for (const auto& [name, value] : request.headers) {
    if (!is_header_name(name) || !is_header_value(value)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("the value of the header {} cannot be sent: it is empty or holds line ends or control "
                                "characters",
                                printable(name)));
    }
    list.add(name + ": " + value);
  }
  list.add("Expect:");  // else libcurl waits a second for a 100 Continue before it sends a large body
  return {};
}

}  // namespace

bool is_header_name(std::string_view name) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](unsigned char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
           kOthers.find(static_cast<char>(byte)) != std::string_view::npos;
  });
}

bool is_header_value(std::string_view value) {
  return !trim(value).empty() &&
         std::none_of(value.begin(), value.end(), [](unsigned char byte) { return byte < ' ' || byte == 0x7f; });
}

Result<PostAnswer> post(const PostRequest& request, exchange::TransferLimits limits, const std::stop_token& stop) {
  exchange::CurlList headers;
  TRAINWARDEN_RETURN_IF_ERROR(add_headers(request, headers));
  limits.use_proxy = limits.use_proxy && !request.target.loopback;
  limits.loopback_only = !request.target.encrypted && request.target.loopback;
  Reader reader;
  exchange::Transfer transfer(limits);
  const std::string agent = fmt::format("trainwarden/{}", version());
  transfer.set(CURLOPT_URL, request.target.url.c_str());
  transfer.set(CURLOPT_PROTOCOLS_STR, request.target.encrypted ? "https" : "http");
  transfer.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  transfer.set(CURLOPT_FOLLOWLOCATION, 0L);
  transfer.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  transfer.set(CURLOPT_USERAGENT, agent.c_str());
  transfer.set(CURLOPT_POST, 1L);
  transfer.set(CURLOPT_POSTFIELDS, request.body.c_str());
  transfer.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  transfer.set(CURLOPT_HTTPHEADER, headers.get());
  transfer.set(CURLOPT_HEADERFUNCTION, &take_header);
  transfer.set(CURLOPT_HEADERDATA, static_cast<void*>(&reader));
  transfer.set(CURLOPT_WRITEFUNCTION, &take_body);
  transfer.set(CURLOPT_WRITEDATA, static_cast<void*>(&reader));
  const Status status = transfer.perform(request.target.place, stop);
  if (!reader.headers_whole) {
    if (reader.header_bytes > kAnswerHeadersRead) {
      return Status(Code::kUnavailable, fmt::format("{}: the headers of its answer are longer than {}",
                                                    request.target.place, format_bytes(kAnswerHeadersRead)));
    }
    return status.ok() ? Status(Code::kUnavailable, request.target.place + ": its answer has no headers") : status;
  }
  reader.answer.status = reader.status;
  const std::chrono::milliseconds wanted =
      std::min(transfer.retry_after(), std::chrono::duration_cast<std::chrono::seconds>(kLongestRetryAfter));
  if (wanted.count() > 0) reader.answer.retry_after = wanted;
  return reader.answer;
}

}  // namespace trainwarden::network
