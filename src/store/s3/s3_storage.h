// S3Storage: what lies under a prefix of a bucket. Of storage.h it differs in this:
//
// - Folders are parts of keys: a file needs none before it, and a folder is there as long as something is in it. A file
//   and a folder may have one name.
// - A file that grows is many objects (appended_file.h), one for each append: for small files. What is large is written
//   elsewhere first, and put here whole.
// - There are no locks (kUnimplemented); leases show who lives.
// - put_if_absent() is safe where the server knows conditional requests (If-None-Match), as Amazon's, MinIO and Ceph
// do.
//   Where it does not, two who write in the same moment may both believe that they were first.
#pragma once

#include <memory>
#include <string>

#include "core/base/environment.h"
#include "store/s3/s3_client.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

// `clock` says how old a listing is that was kept; it must outlive the storage.
std::shared_ptr<Storage> create_s3_storage(std::shared_ptr<S3Client> client, std::string prefix,
                                           const Clock& clock = system_clock());

// The bucket that an address leads to, as the environment has settings and credentials for it, and what lies there:
// "s3://BUCKET/PREFIX", or "gs://BUCKET/PREFIX" (google_buckets.h).
struct BucketPlace {
  std::shared_ptr<S3Client> client;
  std::string prefix;
};
Result<BucketPlace> reach_bucket(const std::string& address, std::stop_token stop = {});
// The same as another environment has it; no more than these bytes a second go over each connection, unless it is 0.
Result<BucketPlace> reach_bucket(const std::string& address, const Environment& environment, std::stop_token stop,
                                 std::uint64_t max_bytes_per_second = 0);

// With the settings and credentials of the environment. What is wrong with the address, or with those, is what each
// call fails with.
std::shared_ptr<Storage> open_s3_storage(const std::string& typed);

// Addresses "s3://..." and "gs://..." lead to buckets from now on, but for those whose buckets are folders of this
// machine (bucket_folder.h). Once, before any is opened.
void use_s3();

}  // namespace trainwarden::storage
