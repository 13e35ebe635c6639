#include "store/s3/s3_client.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <random>

#include <curl/curl.h>
#include <fmt/format.h>

#include "core/base/text.h"
#include "core/exchange/digest.h"
#include "core/exchange/interruption.h"
#include "store/s3/s3_call.h"

namespace trainwarden::storage {
namespace {

constexpr std::size_t kMaxIdle = 64;
constexpr std::int64_t kSecondNs = 1'000'000'000;
// Tells what this call has put from what somebody else has.
constexpr const char* kWriteHeader = "x-amz-meta-trainwarden-write";

std::string random_text() {
  std::random_device device;
  return fmt::format("{:08x}{:08x}", device(), device());
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) ^ device();
}

// "Fri, 27 Nov 2026 17:40:00 GMT"
std::int64_t http_time_ns(const HeaderMap& headers, const char* name) {
  const auto found = headers.find(name);
  const std::time_t seconds = found == headers.end() ? -1 : ::curl_getdate(found->second.c_str(), nullptr);
  return seconds < 0 ? 0 : static_cast<std::int64_t>(seconds) * kSecondNs;
}

exchange::TransferLimits limits_of(const S3Settings& settings) {
  exchange::TransferLimits limits;
  limits.connect_timeout = std::chrono::milliseconds(5'000);
  limits.timeout = std::chrono::milliseconds(0);  // what stands still ends; an object may take as long as it takes
  limits.ca_file = settings.ca_file;
  limits.any_address = true;  // the user's own setting
  return limits;
}

// Is it worth another attempt?
bool passes(int status, const std::string& code) {
  static constexpr std::string_view kPassing[] = {
      "SlowDown",   "RequestTimeout",           "InternalError",        "ServiceUnavailable",
      "Throttling", "ThrottlingException",      "RequestLimitExceeded", "ConditionalRequestConflict",
      "BadDigest",  "XAmzContentSHA256Mismatch"};
  const bool is_passing_code = std::find(std::begin(kPassing), std::end(kPassing), code) != std::end(kPassing);
  return status == 408 || status == 425 || status == 429 || status >= 500 ? status != 501 : is_passing_code;
}

bool is_expired(const std::string& code) {
  return code == "ExpiredToken" || code == "ExpiredTokenException" || code == "TokenRefreshRequired";
}

Code code_of(int status, const std::string& code) {
  if (code == "PreconditionFailed" || status == 412) return Code::kAborted;
  if (code == "NoSuchBucket") return Code::kFailedPrecondition;
  if (code == "InvalidPart") return Code::kAborted;  // another process has put it anew
  if (code == "QuotaExceeded" || code == "TooManyBuckets" || status == 507) return Code::kResourceExhausted;
  if (status == 404) return Code::kNotFound;
  if (status == 401 || status == 403 || is_expired(code)) return Code::kPermissionDenied;
  if (status == 416) return Code::kOutOfRange;
  if (status == 501) return Code::kUnimplemented;
  if (passes(status, code)) return Code::kUnavailable;
  return status >= 300 && status < 400 ? Code::kFailedPrecondition : Code::kInternal;
}

std::string hint_of(int status, const std::string& code) {
  if (code == "SignatureDoesNotMatch")
    return "; the secret key is not that of the key id, or the region is another one";
  if (code == "InvalidAccessKeyId") return "; the server does not know the key id";
  if (code == "RequestTimeTooSkewed") return "; this machine's clock differs from the server's";
  if (code == "NoSuchBucket") return "; there is no such bucket";
  if (status >= 300 && status < 400) return "; the bucket is in another region: set AWS_REGION";
  return "";
}

}  // namespace

std::string header_of(const HeaderMap& headers, std::string_view name) {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

bool has_opaque_etag(const HeaderMap& headers) {
  return header_of(headers, "x-amz-server-side-encryption").starts_with("aws:kms") ||
         headers.contains("x-amz-server-side-encryption-customer-algorithm");
}

S3Client::S3Client(std::string bucket, S3Settings settings, std::shared_ptr<CredentialChain> credentials,
                   const Clock& clock, std::stop_token stop, S3Ground ground)
    : bucket_(std::move(bucket)),
      settings_(std::move(settings)),
      credentials_(std::move(credentials)),
      clock_(clock),
      stop_(std::move(stop)),
      ground_(std::move(ground)),
      retries_(settings_.max_attempts, random_seed()),
      idle_of_(::getpid()) {}

S3Client::~S3Client() {
  leave_inherited();
}

// In a forked child these are the parent's: whoever uses or closes one does so on the parent's socket. Their memory
// stays.
void S3Client::leave_inherited() {
  if (idle_of_ == ::getpid()) return;
  for (std::unique_ptr<HttpConnection>& connection : idle_) (void)connection.release();
  idle_.clear();
  idle_of_ = ::getpid();
}

std::string S3Client::address_of(std::string_view key) const {
  return fmt::format("{}://{}/{}", settings_.scheme, bucket_, printable(key));
}

std::string S3Client::host() const {
  const std::string endpoint = settings_.endpoint.substr(settings_.endpoint.find("://") + 3);
  return settings_.path_style ? endpoint : fmt::format("{}.{}", bucket_, endpoint);
}

std::string S3Client::path_of(const std::string& key) const {
  return settings_.path_style ? fmt::format("/{}/{}", bucket_, encode_uri(key, true)) : "/" + encode_uri(key, true);
}

std::string S3Client::url_of(const Call& call) const {
  return fmt::format("{}://{}{}{}{}", settings_.is_encrypted ? "https" : "http", host(), path_of(call.key),
                     call.query.empty() ? "" : "?", encode_query(call.query));
}

std::unique_ptr<HttpConnection> S3Client::take_connection() {
  const std::lock_guard guard(mutex_);
  leave_inherited();
  if (idle_.empty()) return ground_.connect ? ground_.connect() : create_http_connection(limits_of(settings_));
  auto connection = std::move(idle_.back());
  idle_.pop_back();
  return connection;
}

void S3Client::keep_connection(std::unique_ptr<HttpConnection> connection) {
  const std::lock_guard guard(mutex_);
  leave_inherited();
  if (idle_.size() < kMaxIdle) idle_.push_back(std::move(connection));
}

// Each body has a digest that the server compares with what has come: the SHA-256 of its signature, or the MD5 where it
// has one and the connection is encrypted, as AWS's tools have it; where nothing is signed the MD5.
Status S3Client::sign(const Call& call, const AwsCredentials& credentials, std::int64_t clock_offset_ns,
                      HeaderMap& headers) const {
  const bool has_md5 = headers.contains(kMd5Header);
  if (credentials.key_id.empty()) {
    if (has_md5 || call.body.empty()) return {};
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string md5, exchange::md5(as_text(call.body)));
    headers[kMd5Header] = exchange::base64(md5);
    return {};
  }
  std::string hash = "UNSIGNED-PAYLOAD";
  if (!has_md5 || !settings_.is_encrypted) {
    TRAINWARDEN_ASSIGN_OR_RETURN(hash, exchange::sha256_hex(as_text(call.body)));
  }
  headers["host"] = host();
  const std::string path = path_of(call.key);
  const SignedParts parts{.method = call.method, .path = path, .query = &call.query, .payload_hash = hash};
  return sign_v4(parts, credentials, settings_.region, clock_.unix_ns() + clock_offset_ns, headers);
}

Result<S3Client::Outcome> S3Client::attempt(const Call& call, std::int64_t clock_offset_ns) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const AwsCredentials credentials, credentials_->get());
  ClientRequest request{.method = call.method, .url = url_of(call), .headers = call.headers, .body = call.body};
  TRAINWARDEN_RETURN_IF_ERROR(sign(call, credentials, clock_offset_ns, request.headers));
  Outcome outcome;
  request.max_bytes_per_second = settings_.max_bytes_per_second;
  const TakeBody take_error = take_up_to(outcome.error, kMaxS3TextBytes);
  request.take = [&](int status, std::string_view bytes) {
    bytes_received_ += bytes.size();
    const bool is_fine = status >= 200 && status < 300;
    return is_fine ? !call.take || call.take(status, bytes) : take_error(status, bytes);
  };
  call.begin();
  ++requests_;
  bytes_sent_ += call.body.size();
  auto connection = take_connection();
  auto answer = connection->exchange(request, settings_.endpoint, stop_);
  if (!answer.ok()) return answer.status();  // and its connection is gone
  keep_connection(std::move(connection));
  outcome.answer = *std::move(answer);
  const std::int64_t server_ns = http_time_ns(outcome.answer.headers, "date");
  if (server_ns != 0) server_ahead_ns_ = server_ns - clock_.unix_ns();
  return outcome;
}

// False: the call is to end.
bool S3Client::wait(std::chrono::milliseconds time) const {
  if (!ground_.pause) return exchange::pause_between_exchanges(time, stop_);
  ground_.pause(time);
  return true;
}

// The first answer that is final, whatever it says.
Result<S3Client::Outcome> S3Client::perform(const Call& call) {
  bool was_renewed = false, was_set = false;
  for (int number = 1;; ++number) {
    Result<Outcome> outcome = attempt(call, clock_offset_ns_);
    const std::string code = outcome.ok() && !outcome->is_fine() ? outcome->code() : "";
    const bool is_lost = !outcome.ok() && (outcome.status().code() == Code::kUnavailable ||
                                           outcome.status().code() == Code::kDeadlineExceeded);
    bool is_again = is_lost || (outcome.ok() && !outcome->is_fine() && passes(outcome->answer.status, code));
    if (is_expired(code) && !was_renewed) {
      credentials_->forget();
      is_again = was_renewed = true;
    }
    const std::int64_t server_ns = code == "RequestTimeTooSkewed" ? http_time_ns(outcome->answer.headers, "date") : 0;
    if (server_ns != 0 && !was_set) {
      clock_offset_ns_ = server_ns - clock_.unix_ns();
      is_again = was_set = true;
    }
    const auto pause = is_again ? retries_.pause_after(number) : std::nullopt;
    if (!pause) {
      if (outcome.ok()) outcome->attempts = number;
      if (outcome.ok() && outcome->is_fine()) retries_.answered(number);
      return outcome;
    }
    ++tried_again_;
    if (!wait(*pause)) return Status(Code::kCancelled, fmt::format("{}: left", settings_.endpoint));
  }
}

Status S3Client::error_of(const Call& call, const Outcome& outcome) const {
  const int status = outcome.answer.status;
  const std::string code = outcome.code();
  const std::string attempts = outcome.attempts > 1 ? fmt::format(" after {} attempts", outcome.attempts) : "";
  return Status(code_of(status, code),
                fmt::format("{} {} at {}: status {}{}{}{}{}", call.method, address_of(call.key), settings_.endpoint,
                            status, code.empty() ? "" : " ", printable(code), attempts, hint_of(status, code)));
}

Result<ObjectInfo> S3Client::head(const std::string& key) {
  const Call call{.method = "HEAD", .key = key};
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
  if (!outcome.is_fine()) return error_of(call, outcome);
  const HeaderMap& headers = outcome.answer.headers;
  const auto bytes = parse_int(header_of(headers, "content-length"));
  return ObjectInfo{.bytes = static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes.value_or(0))),
                    .changed_unix_ns = http_time_ns(headers, "last-modified"),
                    .etag = header_of(headers, "etag"),
                    .has_opaque_etag = has_opaque_etag(headers)};
}

Result<std::size_t> S3Client::get(const std::string& key, std::uint64_t offset, MutableByteSpan destination,
                                  const std::string& etag) {
  if (destination.empty()) return std::size_t{0};
  Call call{.key = key};
  call.headers["range"] = fmt::format("bytes={}-{}", offset, offset + destination.size() - 1);
  if (!etag.empty()) call.headers["if-match"] = etag;
  std::size_t taken = 0;
  call.begin = [&] { taken = 0; };
  call.take = [&](int status, std::string_view bytes) {
    if (status != 206 && offset > 0) return false;  // the whole object, which was not asked for
    const std::size_t count = std::min(bytes.size(), destination.size() - taken);
    std::memcpy(destination.data() + taken, bytes.data(), count);
    taken += count;
    return count == bytes.size();
  };
  const auto outcome = perform(call);
  if (!outcome.ok()) return outcome.status();
  if (outcome->answer.status == 416) return std::size_t{0};
  if (!outcome->is_fine()) return error_of(call, *outcome);
  return taken;
}

Result<std::string> S3Client::get_whole(const std::string& key, std::uint64_t limit_bytes) {
  std::string content;
  Call call{.key = key};
  call.begin = [&] { content.clear(); };
  call.take = take_up_to(content, limit_bytes);
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
  if (!outcome.is_fine()) return error_of(call, outcome);
  return content;
}

Status S3Client::put(const std::string& key, ByteSpan content, PutCondition condition) {
  const std::string write = random_text();
  Call call{.method = "PUT", .key = key, .body = content};
  call.headers = {{"content-type", "application/octet-stream"}, {kWriteHeader, write}};
  if (condition == PutCondition::kIfAbsent) {
    // Servers that do not know the condition overwrite; this leaves them the time of one request to do so.
    if (head(key).ok()) return Status(Code::kAlreadyExists, fmt::format("{} is there", address_of(key)));
    call.headers["if-none-match"] = "*";
  }
  TRAINWARDEN_ASSIGN_OR_RETURN(Outcome outcome, perform(call));
  if (outcome.answer.status == 501 && condition == PutCondition::kIfAbsent) {
    call.headers.erase("if-none-match");
    TRAINWARDEN_ASSIGN_OR_RETURN(outcome, perform(call));
  }
  if (outcome.is_fine()) return {};
  if (outcome.answer.status != 412 || condition != PutCondition::kIfAbsent) return error_of(call, outcome);
  // Where an attempt before was taken, and its answer lost, the object is ours.
  const Call look{.method = "HEAD", .key = key};
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome there, perform(look));
  if (there.is_fine() && header_of(there.answer.headers, kWriteHeader) == write) return {};
  return Status(Code::kAlreadyExists, fmt::format("{} is there", address_of(key)));
}

Status S3Client::remove(const std::string& key) {
  const Call call{.method = "DELETE", .key = key};
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
  return outcome.is_fine() || outcome.answer.status == 404 ? Status() : error_of(call, outcome);
}

Result<ObjectPage> S3Client::list(const std::string& prefix, const std::string& delimiter, const std::string& after,
                                  const std::string& token, int max_keys) {
  std::string text;
  Call call;
  call.query = {
      {"list-type", "2"}, {"encoding-type", "url"}, {"prefix", prefix}, {"max-keys", std::to_string(max_keys)}};
  if (!delimiter.empty()) call.query["delimiter"] = delimiter;
  if (!after.empty()) call.query["start-after"] = after;
  if (!token.empty()) call.query["continuation-token"] = token;
  call.begin = [&] { text.clear(); };
  call.take = take_up_to(text, kMaxPageBytes);
  TRAINWARDEN_ASSIGN_OR_RETURN(const Outcome outcome, perform(call));
  if (!outcome.is_fine()) return error_of(call, outcome);
  return parse_object_page(text);
}

S3Use S3Client::use() const {
  return {.requests = requests_, .retries = tried_again_, .bytes_sent = bytes_sent_, .bytes_received = bytes_received_};
}

}  // namespace trainwarden::storage
