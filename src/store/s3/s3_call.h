// One call of S3 and what became of it, for the files of S3Client.
#pragma once

#include <functional>
#include <string>

#include "store/s3/s3_client.h"

namespace trainwarden::storage {

inline constexpr std::size_t kMaxS3TextBytes = 64 * 1024;  // of an error, or of a short answer
inline constexpr const char* kMd5Header = "content-md5";
inline constexpr std::size_t kMaxPageBytes = 16 << 20;

struct S3Client::Call {
  const char* method = "GET";
  std::string key;  // empty: of the bucket
  QueryParameters query = {};
  HeaderMap headers = {};
  ByteSpan body = {};
  TakeBody take = {};                   // of an answer that is fine
  std::function<void()> begin = [] {};  // before each attempt: forgets what the one before has taken
};

struct S3Client::Outcome {
  ClientAnswer answer;
  std::string error;  // its document
  int attempts = 1;
  bool is_fine() const { return answer.status >= 200 && answer.status < 300; }
  std::string code() const { return parse_error_code(error); }
};

// The bucket encrypts with keys of which the tag tells nothing
// (docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html).
bool has_opaque_etag(const HeaderMap& headers);
std::string header_of(const HeaderMap& headers, std::string_view name);  // empty: there is none

}  // namespace trainwarden::storage
