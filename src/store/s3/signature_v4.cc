#include "store/s3/signature_v4.h"

#include <ctime>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/exchange/digest.h"

namespace trainwarden::storage {
namespace {

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";

// "20260102T030405Z"
std::string time_text(std::int64_t unix_ns) {
  const std::time_t seconds = static_cast<std::time_t>(unix_ns / 1'000'000'000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                     parts.tm_hour, parts.tm_min, parts.tm_sec);
}

bool is_signed(std::string_view header) {
  return header == "host" || header == "content-md5" || header.starts_with("x-amz-");
}

Result<std::string> signing_key(const AwsCredentials& credentials, std::string_view date, std::string_view region) {
  std::string key = "AWS4" + credentials.secret;
  for (const std::string_view part : {date, region, std::string_view("s3"), std::string_view("aws4_request")}) {
    TRAINWARDEN_ASSIGN_OR_RETURN(key, exchange::hmac_sha256(key, part));
  }
  return key;
}

}  // namespace

std::string encode_uri(std::string_view text, bool keep_slashes) {
  std::string encoded;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                          c == '.' || c == '_' || c == '~' || (keep_slashes && c == '/');
    if (is_plain) {
      encoded += c;
    } else {
      encoded += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return encoded;
}

std::string encode_query(const QueryParameters& query) {
  std::string text;
  for (const auto& [name, value] : query) {
    text += fmt::format("{}{}={}", text.empty() ? "" : "&", encode_uri(name, false), encode_uri(value, false));
  }
  return text;
}

Status sign_v4(const SignedParts& parts, const AwsCredentials& credentials, std::string_view region,
               std::int64_t unix_ns, HeaderMap& headers) {
  const std::string time = time_text(unix_ns);
  const std::string date = time.substr(0, 8);
  headers["x-amz-date"] = time;
  headers["x-amz-content-sha256"] = parts.payload_hash;
  if (!credentials.session_token.empty()) headers["x-amz-security-token"] = credentials.session_token;
  std::string canonical, names;
  for (const auto& [name, value] : headers) {
    if (!is_signed(name)) continue;
    canonical += fmt::format("{}:{}\n", name, trim(value));
    names += fmt::format("{}{}", names.empty() ? "" : ";", name);
  }
  const std::string request =
      fmt::format("{}\n{}\n{}\n{}\n{}\n{}", parts.method, parts.path,
                  parts.query == nullptr ? "" : encode_query(*parts.query), canonical, names, parts.payload_hash);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string request_hash, exchange::sha256_hex(request));
  const std::string scope = fmt::format("{}/{}/s3/aws4_request", date, region);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string key, signing_key(credentials, date, region));
  TRAINWARDEN_ASSIGN_OR_RETURN(
      const std::string signature,
      exchange::hmac_sha256(key, fmt::format("{}\n{}\n{}\n{}", kAlgorithm, time, scope, request_hash)));
  headers["authorization"] = fmt::format("{} Credential={}/{},SignedHeaders={},Signature={}", kAlgorithm,
                                         credentials.key_id, scope, names, exchange::hex(signature));
  return {};
}

}  // namespace trainwarden::storage
