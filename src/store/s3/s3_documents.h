// The XML documents that S3 answers with (docs.aws.amazon.com/AmazonS3/latest/API).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trainwarden/status.h"

namespace trainwarden::storage {

// What a bucket knows of an object without its bytes.
struct ObjectInfo {
  std::uint64_t bytes = 0;
  std::int64_t changed_unix_ns = 0;
  std::string etag;  // with its quotes; another one for other content
  // The bucket encrypts it with keys of which the tag tells nothing: it is no digest of the content.
  bool has_opaque_etag = false;
};

inline constexpr std::uint64_t kMaxObjectBytes = std::uint64_t{1} << 60;  // more is no size of anything

struct ListedObject {
  std::string key;
  ObjectInfo info;
};

// One page of ListObjectsV2, in the order of keys.
struct ObjectPage {
  std::vector<ListedObject> objects;
  std::vector<std::string> prefixes;  // with the delimiter at their ends
  std::string next;                   // continuation token; empty: that was all
};

// `text` was asked for with encoding-type=url. kDataLoss when it is none.
Result<ObjectPage> parse_object_page(std::string_view text);

// An upload in parts that was begun and neither ended nor given up: what was sent of it is kept, and paid for.
struct UnfinishedUpload {
  std::string key, id;
  std::int64_t begun_unix_ns = 0;
};
// One page of ListMultipartUploads, asked for with encoding-type=url.
struct UploadPage {
  std::vector<UnfinishedUpload> uploads;
  std::string next_key, next_id;  // markers of the next page; empty: that was all
};
// kDataLoss when it is none.
Result<UploadPage> parse_upload_page(std::string_view text);

struct UploadedPart {
  int number = 0;  // from 1
  std::uint64_t bytes = 0;
  std::string etag;
};
struct PartPage {
  std::vector<UploadedPart> parts;
  std::string next;  // marker of the next page; empty: that was all
};
// One page of ListParts. kDataLoss when it is none.
Result<PartPage> parse_part_page(std::string_view text);

// The ETag of a <CompleteMultipartUploadResult> or a <CopyObjectResult>; empty: there is none.
std::string parse_result_etag(std::string_view text);

// The UploadId of an <InitiateMultipartUploadResult>. kDataLoss.
Result<std::string> parse_upload_id(std::string_view text);
// <CompleteMultipartUpload> with parts 1, 2, ...
std::string completed_upload(const std::vector<std::string>& etags);

// The code of an <Error>, "NoSuchKey"; empty when it is none.
std::string parse_error_code(std::string_view text);

}  // namespace trainwarden::storage
