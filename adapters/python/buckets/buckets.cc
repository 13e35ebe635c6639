// libtrainwarden_buckets.so: buckets of S3 for the core, with libcurl (core/bucket_library.h says when it is loaded).
#include "../core/bucket_library.h"
#include "core/exchange/interruption.h"
#include "store/s3/s3_storage.h"

extern "C" __attribute__((visibility("default"))) const trainwarden::python::BucketLibrary* trainwarden_buckets() {
  static constexpr trainwarden::python::BucketLibrary kLibrary{
      .build = trainwarden::python::kBucketBuild,
      .open = trainwarden::storage::open_s3_storage,
      .set_interruption = trainwarden::exchange::set_interruption,
  };
  return &kLibrary;
}
