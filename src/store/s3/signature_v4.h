// AWS Signature Version 4 of a request to S3
// (docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::storage {

struct AwsCredentials {
  std::string key_id;  // empty: requests are not signed, for what is public
  std::string secret;
  std::string session_token;         // empty: they are not of a session
  std::int64_t expires_unix_ns = 0;  // 0: never
};

using QueryParameters = std::map<std::string, std::string>;         // neither name nor value is encoded
using HeaderMap = std::map<std::string, std::string, std::less<>>;  // names in lower case

struct SignedParts {
  std::string_view method;  // "GET"
  std::string_view path;    // of the URL, encoded: "/bucket/key"
  const QueryParameters* query = nullptr;
  std::string_view payload_hash;  // SHA-256 of the body, in hexadecimal digits, or "UNSIGNED-PAYLOAD"
};

// Adds authorization, x-amz-date and x-amz-content-sha256, and with a session x-amz-security-token. Signed are host,
// which must be there, content-md5 and all of x-amz-.
Status sign_v4(const SignedParts& parts, const AwsCredentials& credentials, std::string_view region,
               std::int64_t unix_ns, HeaderMap& headers);

// As the signature has it: all bytes but letters, digits and "-._~" as %XX; '/' stays where `keep_slashes`.
std::string encode_uri(std::string_view text, bool keep_slashes);
// "list-type=2&prefix=a%2Fb", by name.
std::string encode_query(const QueryParameters& query);

}  // namespace trainwarden::storage
