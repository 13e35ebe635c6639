// Buckets that are folders of this machine: where TRAINWARDEN_BUCKETS names a folder, "s3://BUCKET/KEY" is the file KEY
// in its folder BUCKET, and no object store is reached.
#pragma once

#include <filesystem>
#include <string_view>

#include "core/base/environment.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

inline constexpr std::string_view kBucketScheme = "s3://";

// `address` begins with kBucketScheme. kUnimplemented when no folder is set; kInvalidArgument when there is no bucket
// in it, or a part of it is "..".
Result<std::filesystem::path> folder_of_bucket(std::string_view address,
                                               const Environment& environment = process_environment);

// Does this program reach buckets (set_bucket_storage() of location.h)?
bool reaches_buckets();

}  // namespace trainwarden::storage
