// BucketUpload: a file that arrives in a bucket.
#pragma once

#include <memory>
#include <string>

#include "store/copy/copy_end.h"
#include "store/s3/s3_client.h"

namespace trainwarden::copy {

// `before`: what is there now, whose pieces are removed once the object is there.
Result<std::unique_ptr<FileReceiver>> begin_bucket_upload(std::shared_ptr<storage::S3Client> client, std::string key,
                                                          std::uint64_t bytes, const CopyFile* before);

}  // namespace trainwarden::copy
