// Addresses as users write them.
#include "store/copy/copy_place.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/folder_testing.h"

namespace trainwarden::copy {
namespace {

namespace fs = std::filesystem;

class CopyPlaceTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(root_ / "data/deep");
    fs::create_directories(root_ / "there");
    std::ofstream(root_ / "data/file") << "x";
  }
  Result<CopyEnds> find(const std::string& from, const std::string& to, bool is_sync = false) {
    return find_ends({.from = from, .to = to, .is_sync = is_sync}, environment_, {});
  }
  std::string target(const std::string& from, const std::string& to, bool is_sync = false) {
    const auto ends = find(from, to, is_sync);
    return ends.ok() ? fs::path(ends->to_address).lexically_relative(root_).string() : ends.status().to_string();
  }
  std::string at(const std::string& path) const { return (root_ / path).string(); }

  TestFolder folder_;
  fs::path root_ = fs::canonical(folder_.path());
  std::string buckets_ = (root_ / "buckets").string();
  Environment environment_ = [this](const char* name) -> const char* {
    return std::string_view(name) == "TRAINWARDEN_BUCKETS" ? buckets_.c_str() : nullptr;
  };
};

TEST_F(CopyPlaceTest, ANameFollowsWhereTheTargetIsAPlaceForThings) {
  EXPECT_EQ(target(at("data"), at("copy")), "copy");
  EXPECT_EQ(target(at("data/"), at("copy/")), "copy/data");
  EXPECT_EQ(target(at("data"), at("there")), "there");
  EXPECT_EQ(target(at("data"), at("there/")), "there/data");
  EXPECT_EQ(target(at("data"), at("there/"), true), "there");
  EXPECT_EQ(target(at("data/file"), at("there")), "there/file");
  EXPECT_EQ(target(at("data/file"), at("new")), "new");
  EXPECT_EQ(target(at("data/file"), "file://" + at("new/")), "new/file");
  EXPECT_EQ(target(at("data/file"), "s3://bucket/a/"), "buckets/bucket/a/file");
}

TEST_F(CopyPlaceTest, MistakesAreTold) {
  EXPECT_EQ(find(at("nothing"), at("x")).status().code(), Code::kNotFound);
  for (const auto& [from, to] : {std::pair(at("data"), at("data")), std::pair(at("data"), at("data/deep/x")),
                                 std::pair(at("data/deep"), at("data")), std::pair(at("data"), at("data/file")),
                                 std::pair(at("data/file"), at("data/file")), std::pair(at("data"), std::string())}) {
    EXPECT_EQ(find(from, to).status().code(), Code::kInvalidArgument) << from << " " << to;
  }
  EXPECT_EQ(find(at("data/file"), at("x"), true).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(find(at("data"), at("data2")).ok());  // no part of the other
  EXPECT_EQ(find("ftp://host/x", at("x")).status().code(), Code::kUnimplemented);
  EXPECT_NE(find("gcs://bucket/x", at("x")).status().message().find("write gs://BUCKET/KEY"), std::string::npos);
  for (const char* azure : {"az://container/x", "abfs://container@account/x"}) {
    EXPECT_NE(find(at("data"), azure).status().message().find("azcopy"), std::string::npos);
  }
  buckets_.clear();
  const Status google = find(at("data"), "gs://bucket/x").status();
  EXPECT_EQ(google.code(), Code::kPermissionDenied);
  EXPECT_NE(google.message().find("gcloud storage hmac create"), std::string::npos) << google.to_string();
  const Status odd = find("s3://b/x", at("x")).status();
  EXPECT_EQ(odd.code(), Code::kInvalidArgument) << odd.to_string();
}

TEST_F(CopyPlaceTest, ALinkThatTheUserNamesIsFollowed) {
  fs::create_directory_symlink(root_ / "data", root_ / "link");
  const auto ends = find(at("link"), at("copy"));
  ASSERT_TRUE(ends.ok()) << ends.status().to_string();
  EXPECT_EQ(ends->from_address, at("data"));
  EXPECT_EQ(find(at("link"), at("data/deep")).status().code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace trainwarden::copy
