// How the core reaches buckets: through a library of the package, libtrainwarden_buckets.so, which alone has libcurl
// and is loaded at the first address of a bucket. A process that names none loads nothing of it.
//
// Objects in C++ cross between the two, so both must be of one build: of the same headers, compiler and flags.
#pragma once

#include <memory>
#include <string>

#include "store/storage/storage.h"

namespace trainwarden::python {

inline constexpr const char* kBucketLibrary = "libtrainwarden_buckets.so";
inline constexpr const char* kBucketEntry = "trainwarden_buckets";

struct BucketLibrary {
  const char* build;  // first, whatever else changes
  // "s3://..." or "gs://...", with the settings and credentials of the environment.
  std::shared_ptr<storage::Storage> (*open)(const std::string& address);
  // Asked by threads that wait for a bucket: are they to leave?
  void (*set_interruption)(bool (*ask)());
};
using BucketEntry = const BucketLibrary*();

// What both sides were made from (CMakeLists.txt).
inline constexpr const char* kBucketBuild = TW_BUCKET_BUILD;

// From now on addresses "s3://..." and "gs://..." lead to buckets.
void use_bucket_library();

}  // namespace trainwarden::python
