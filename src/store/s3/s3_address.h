// Addresses of buckets, as users write them: "s3://BUCKET/PREFIX", "gs://BUCKET/PREFIX".
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::storage {

struct S3Address {
  std::string scheme;  // "s3" or "gs"
  std::string bucket;
  std::string prefix;  // without a '/' at its ends; may be empty
};

// Of what is_bucket_address() of bucket_folder.h takes. kInvalidArgument when there is no bucket, its name is none, or
// a part of the prefix is empty, "." or "..".
Result<S3Address> parse_s3_address(std::string_view typed);

}  // namespace trainwarden::storage
