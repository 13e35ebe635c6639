// Addresses of buckets, as users write them: "s3://BUCKET/PREFIX".
#pragma once

#include <string>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden::storage {

struct S3Address {
  std::string bucket;
  std::string prefix;  // without a '/' at its ends; may be empty
};

// `rest` is what follows "s3://". kInvalidArgument when there is no bucket, its name is none, or a part of the prefix
// is empty, "." or "..".
Result<S3Address> parse_s3_address(std::string_view rest);

}  // namespace trainwarden::storage
