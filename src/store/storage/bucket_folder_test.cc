#include "store/storage/bucket_folder.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "core/base/folder_testing.h"
#include "store/storage/location.h"

namespace trainwarden::storage {
namespace {

const Environment kWithBuckets = [](const char*) { return "/buckets"; };
const Environment kWithout = [](const char*) -> const char* { return nullptr; };

TEST(BucketFolder, AKeyIsAPathInTheBucketsFolder) {
  EXPECT_EQ(*folder_of_bucket("s3://mine/runs/first", kWithBuckets), "/buckets/mine/runs/first");
  EXPECT_EQ(*folder_of_bucket("s3://mine", kWithBuckets), "/buckets/mine");
  EXPECT_EQ(*folder_of_bucket("gs://mine/runs", kWithBuckets), "/buckets/mine/runs");
}

TEST(BucketFolder, NothingLeadsOutOfIt) {
  for (const char* address : {"s3://", "s3:///etc", "s3://../etc", "s3://a/../../etc", "s3://a/./b"}) {
    EXPECT_EQ(folder_of_bucket(address, kWithBuckets).status().code(), Code::kInvalidArgument) << address;
  }
}

TEST(BucketFolder, WithoutAFolderTheErrorSaysWhatToSet) {
  const Status status = folder_of_bucket("s3://mine/a", kWithout).status();
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  EXPECT_NE(status.message().find("TRAINWARDEN_BUCKETS"), std::string::npos);
}

TEST(BucketFolder, ALocationReachesIt) {
  const TestFolder folder;
  std::filesystem::create_directories(folder.path() / "mine");
  std::ofstream(folder.path() / "mine/a.txt") << "a";
  ::setenv("TRAINWARDEN_BUCKETS", folder.path().c_str(), 1);
  const Location bucket("s3://mine");
  ::unsetenv("TRAINWARDEN_BUCKETS");
  EXPECT_EQ(bucket.storage().read("a.txt").value_or(""), "a");
  EXPECT_EQ(bucket.folder(), folder.path() / "mine");
  const Location unreachable("s3://mine");
  EXPECT_EQ(unreachable.storage().read("a.txt").status().code(), Code::kUnimplemented);
}

}  // namespace
}  // namespace trainwarden::storage
