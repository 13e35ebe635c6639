// Files of a bucket that are open.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "store/s3/appended_file.h"
#include "store/s3/block_cache.h"
#include "store/s3/s3_client.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

// What the files of one storage share.
struct S3Reach {
  std::shared_ptr<S3Client> client;
  std::shared_ptr<BlockCache> cache;
  std::function<void()> on_stale = {};  // what was listed is no longer so
};

// The parts of a file, from the whole object or its pieces. kNotFound when there is neither.
Result<std::vector<FilePart>> find_parts(S3Client& client, const std::string& key);
// The pieces that came behind those of `parts`. kAborted: the file is in no pieces any more.
Status find_more_parts(S3Client& client, const std::string& key, std::vector<FilePart>& parts);

std::unique_ptr<ReadableFile> open_s3_file(S3Reach reach, std::string key, std::vector<FilePart> parts);
// A file of which piece 0 is there. `on_append` is called after each append.
std::unique_ptr<WritableFile> append_to_s3_file(std::shared_ptr<S3Client> client, std::string key,
                                                std::function<void()> on_append);

}  // namespace trainwarden::storage
