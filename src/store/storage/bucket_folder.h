// Addresses of buckets, and buckets that are folders of this machine: where TRAINWARDEN_BUCKETS names a folder,
// "s3://BUCKET/KEY" and "gs://BUCKET/KEY" are the file KEY in its folder BUCKET, and no object store is reached.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/environment.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

// "s3://..." of Amazon and others that speak its language, "gs://..." of Google.
inline bool is_bucket_address(std::string_view address) {
  return address.starts_with("s3://") || address.starts_with("gs://");
}
// BUCKET/KEY of such an address.
inline std::string_view path_in_buckets(std::string_view address) {
  return is_bucket_address(address) ? address.substr(std::string_view("s3://").size()) : std::string_view();
}

// `address` is that of a bucket. kUnimplemented when no folder is set; kInvalidArgument when there is no bucket
// in it, or a part of it is "..".
Result<std::filesystem::path> folder_of_bucket(std::string_view address,
                                               const Environment& environment = process_environment);

// Does this program reach buckets (set_bucket_storage() of location.h)?
bool reaches_buckets();

}  // namespace trainwarden::storage
