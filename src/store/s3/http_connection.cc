#include "store/s3/http_connection.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "trainwarden/version.h"

namespace trainwarden::storage {
namespace {

constexpr std::size_t kMaxHeaderBytes = 64 * 1024;
constexpr long kSendBytes = 512 * 1024;
constexpr long kSlowBytesPerSecond = 1, kSlowSeconds = 20;

struct Reader {
  const ClientRequest& request;
  ClientAnswer answer;
  std::size_t header_bytes = 0;
  bool had_enough = false;
};

std::size_t take_header(char* bytes, std::size_t, std::size_t count, void* target) {
  auto& reader = *static_cast<Reader*>(target);
  const std::string_view line = trim(std::string_view(bytes, count));
  reader.header_bytes += count;
  if (line.starts_with("HTTP/")) {
    const std::size_t blank = line.find(' ');
    const std::string_view digits = blank == std::string_view::npos ? "" : line.substr(blank + 1, 3);
    reader.answer = {.status = static_cast<int>(parse_int(digits).value_or(0)), .headers = {}};
  } else if (const std::size_t colon = line.find(':'); colon != std::string_view::npos) {
    reader.answer.headers[lower(trim(line.substr(0, colon)))] = trim(line.substr(colon + 1));
  }
  return reader.header_bytes > kMaxHeaderBytes ? 0 : count;
}

std::size_t take_body(char* bytes, std::size_t, std::size_t count, void* target) {
  auto& reader = *static_cast<Reader*>(target);
  if (reader.request.take && !reader.request.take(reader.answer.status, {bytes, count})) reader.had_enough = true;
  return reader.had_enough ? 0 : count;
}

void set_method(exchange::Transfer& transfer, const ClientRequest& request) {
  const std::string_view method = request.method;
  if (method == "HEAD") transfer.set(CURLOPT_NOBODY, 1L);
  if (method == "PUT" || method == "POST") {
    transfer.set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    // Half as many calls of the system as with libcurl's 64 KiB.
    if (request.body.size() > static_cast<std::size_t>(kSendBytes)) transfer.set(CURLOPT_UPLOAD_BUFFERSIZE, kSendBytes);
    transfer.set(CURLOPT_POSTFIELDS, request.body.empty() ? "" : as_text(request.body).data());  // not copied
  }
  if (method != "GET" && method != "HEAD") transfer.set(CURLOPT_CUSTOMREQUEST, request.method);
}

class CurlConnection final : public HttpConnection {
 public:
  explicit CurlConnection(const exchange::TransferLimits& limits) : transfer_(limits) {}
  Result<ClientAnswer> exchange(const ClientRequest& request, std::string_view place,
                                const std::stop_token& stop) override;

 private:
  exchange::Transfer transfer_;
};

Result<ClientAnswer> CurlConnection::exchange(const ClientRequest& request, std::string_view place,
                                              const std::stop_token& stop) {
  exchange::CurlList headers;
  for (const auto& [name, value] : request.headers) headers.add(fmt::format("{}: {}", name, value));
  // What libcurl would add by itself: a wait for "100 Continue", and the type of a form.
  headers.add("Expect:");
  if (!request.headers.contains("content-type")) headers.add("Content-Type:");
  Reader reader{.request = request, .answer = {}};
  const std::string agent = fmt::format("trainwarden/{}", version());
  transfer_.reset();
  transfer_.set(CURLOPT_URL, request.url.c_str());
  transfer_.set(CURLOPT_PROTOCOLS_STR, request.url.starts_with("https:") ? "https" : "http");
  transfer_.set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  transfer_.set(CURLOPT_FOLLOWLOCATION, 0L);
  transfer_.set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  transfer_.set(CURLOPT_USERAGENT, agent.c_str());
  transfer_.set(CURLOPT_PATH_AS_IS, 1L);
  set_method(transfer_, request);
  transfer_.set(CURLOPT_HTTPHEADER, headers.get());
  transfer_.set(CURLOPT_LOW_SPEED_LIMIT, kSlowBytesPerSecond);
  transfer_.set(CURLOPT_LOW_SPEED_TIME, kSlowSeconds);
  transfer_.set(CURLOPT_MAX_SEND_SPEED_LARGE, static_cast<curl_off_t>(request.max_bytes_per_second));
  transfer_.set(CURLOPT_MAX_RECV_SPEED_LARGE, static_cast<curl_off_t>(request.max_bytes_per_second));
  transfer_.set(CURLOPT_HEADERFUNCTION, &take_header);
  transfer_.set(CURLOPT_HEADERDATA, static_cast<void*>(&reader));
  transfer_.set(CURLOPT_WRITEFUNCTION, &take_body);
  transfer_.set(CURLOPT_WRITEDATA, static_cast<void*>(&reader));
  const Status status = transfer_.perform(place, stop);
  if (reader.had_enough) return Status(Code::kOutOfRange, fmt::format("{}: its answer is too long", place));
  TRAINWARDEN_RETURN_IF_ERROR(status);
  return std::move(reader.answer);
}

}  // namespace

std::unique_ptr<HttpConnection> create_http_connection(const exchange::TransferLimits& limits) {
  return std::make_unique<CurlConnection>(limits);
}

TakeBody take_up_to(std::string& body, std::size_t limit) {
  return [&body, limit](int, std::string_view bytes) {
    if (bytes.size() > limit - body.size()) return false;
    body += bytes;
    return true;
  };
}

}  // namespace trainwarden::storage
