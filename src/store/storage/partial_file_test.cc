// Files that arrive piece by piece.
#include "store/storage/partial_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "core/base/folder_testing.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

std::string text_in(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

class PartialFileTest : public testing::Test {
 protected:
  Result<std::unique_ptr<PartialFile>> open(const std::string& key, const std::string& path = "a/b/file") {
    return PartialFile::open(beneath_, path, key);
  }
  std::size_t names() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_.path() / "a/b"), {}));
  }

  TestFolder folder_;
  Beneath beneath_{folder_.path()};
};

TEST_F(PartialFileTest, AppearsWholeAndWithItsTime) {
  auto file = open("k1");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  ASSERT_TRUE((*file)->append(as_bytes("one ")).ok());
  ASSERT_TRUE((*file)->append(as_bytes("two")).ok());
  EXPECT_FALSE(fs::exists(folder_.path() / "a/b/file"));
  ASSERT_TRUE((*file)->finish(1'700'000'000'123'456'789).ok());
  EXPECT_EQ(text_in(folder_.path() / "a/b/file"), "one two");
  struct stat about {};
  ASSERT_EQ(::stat((folder_.path() / "a/b/file").c_str(), &about), 0);
  EXPECT_EQ(about.st_mtim.tv_sec, 1'700'000'000);
  EXPECT_EQ(about.st_mtim.tv_nsec, 123'456'789);
  EXPECT_EQ(names(), 1u);
}

TEST_F(PartialFileTest, IsGoneOnWithUnderTheSameKeyAlone) {
  {
    auto file = *open("k1");
    ASSERT_TRUE(file->append(as_bytes("one two")).ok());
  }
  auto other = *open("k2");
  EXPECT_EQ(other->bytes(), 0u);
  other->discard();
  auto file = *open("k1");
  EXPECT_EQ(file->bytes(), 7u);
  ASSERT_TRUE(file->cut(4).ok());
  ASSERT_TRUE(file->append(as_bytes("more")).ok());
  ASSERT_TRUE(file->finish(0).ok());
  EXPECT_EQ(text_in(folder_.path() / "a/b/file"), "one more");
}

TEST_F(PartialFileTest, OneProcessIsAtIt) {
  auto file = *open("k1");
  EXPECT_EQ(open("k1").status().code(), Code::kAlreadyExists);
  const std::string name = fs::directory_iterator(folder_.path() / "a/b")->path().filename();
  EXPECT_TRUE(is_partial_name(name)) << name;
  EXPECT_TRUE(name.starts_with(partial_beginning("file")));
  EXPECT_FALSE(remove_partial_file(beneath_, "a/b/" + name).value_or(true));
  EXPECT_EQ(names(), 1u);
  file.reset();
  EXPECT_TRUE(remove_partial_file(beneath_, "a/b/" + name).value_or(false));
  EXPECT_EQ(names(), 0u);
}

TEST_F(PartialFileTest, NoLinkIsFollowed) {
  TestFolder victim;
  std::ofstream(victim.path() / "file") << "theirs";
  fs::create_directories(folder_.path() / "a");
  fs::create_symlink(victim.path(), folder_.path() / "a/b");
  EXPECT_EQ(open("k1").status().code(), Code::kPermissionDenied);
  EXPECT_FALSE(remove_local_file(beneath_, "a/b/file").ok());
  fs::remove(folder_.path() / "a/b");
  fs::create_directory(folder_.path() / "a/b");
  fs::create_symlink(victim.path() / "file", folder_.path() / "a/b/file");
  fs::create_symlink(victim.path() / "file", folder_.path() / "a/b/.file.k1.trainwarden-part");
  EXPECT_EQ(open("k1").status().code(), Code::kPermissionDenied);
  fs::remove(folder_.path() / "a/b/.file.k1.trainwarden-part");
  fs::create_hard_link(victim.path() / "file", folder_.path() / "a/b/.file.k1.trainwarden-part");
  EXPECT_EQ(open("k1").status().code(), Code::kFailedPrecondition);
  fs::remove(folder_.path() / "a/b/.file.k1.trainwarden-part");
  auto file = *open("k1");
  ASSERT_TRUE(file->append(as_bytes("ours")).ok());
  ASSERT_TRUE(file->finish(0).ok());
  EXPECT_EQ(text_in(victim.path() / "file"), "theirs");
  EXPECT_EQ(text_in(folder_.path() / "a/b/file"), "ours");
}

TEST_F(PartialFileTest, ALongNameHasOneToo) {
  const std::string name(255, 'n');
  auto file = open("0123456789abcdef", "a/b/" + name);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  ASSERT_TRUE((*file)->finish(0).ok());
  EXPECT_TRUE(fs::exists(folder_.path() / "a/b" / name));
}

TEST_F(PartialFileTest, FoldersGoWithTheirLastFile) {
  fs::create_directories(folder_.path() / "a/b/c");
  std::ofstream(folder_.path() / "a/other") << "x";
  remove_empty_folders(beneath_, "a/b/c");
  EXPECT_FALSE(fs::exists(folder_.path() / "a/b"));
  EXPECT_TRUE(fs::exists(folder_.path() / "a/other"));
}

}  // namespace
}  // namespace trainwarden::storage
