// One HTTP request after the other on a connection that is kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/base/bytes.h"
#include "core/exchange/transfer.h"
#include "store/s3/signature_v4.h"

namespace trainwarden::storage {

// Gets the body of an answer as it comes; false: no more of it is wanted.
using TakeBody = std::function<bool(int status, std::string_view bytes)>;

struct ClientRequest {
  const char* method = "GET";
  std::string url;
  HeaderMap headers;
  ByteSpan body;                           // of PUT and POST; must outlive the exchange
  TakeBody take;                           // none: the body is read and forgotten
  std::uint64_t max_bytes_per_second = 0;  // 0: no limit
};

struct ClientAnswer {
  int status = 0;
  HeaderMap headers;
};

// One thread at a time.
class HttpConnection {
 public:
  virtual ~HttpConnection() = default;
  // Any status is an answer. Errors as Transfer::perform(); kOutOfRange: `take` wanted no more. Redirects are not
  // followed.
  virtual Result<ClientAnswer> exchange(const ClientRequest& request, std::string_view place,
                                        const std::stop_token& stop) = 0;
};

// Over libcurl.
std::unique_ptr<HttpConnection> create_http_connection(const exchange::TransferLimits& limits);

// Appends to `body`; no more than `limit` bytes of it.
TakeBody take_up_to(std::string& body, std::size_t limit);

}  // namespace trainwarden::storage
