// BucketEnd: what lies under a prefix of a bucket, or one object, as an end of a copy.
//
// What is large is put in parts. An upload that was begun and not ended is gone on with, whoever began it: the server
// says which parts it has, with the digests of their content. Once the object is there, or need not be sent, unfinished
// uploads of its key are given up, since what was sent of them is paid for.
#pragma once

#include <memory>
#include <string>

#include "store/copy/copy_end.h"
#include "store/copy/local_end.h"
#include "store/s3/s3_client.h"

namespace trainwarden::copy {

// `prefix` has no '/' at its end; of a file it is the key.
std::shared_ptr<CopyEnd> create_bucket_end(std::shared_ptr<storage::S3Client> client, std::string prefix, EndKind kind);

// What lies at a key: a file (an object, or pieces of one that grows), or something beneath it.
Result<bool> is_file_in_bucket(storage::S3Client& client, const std::string& key);

}  // namespace trainwarden::copy
