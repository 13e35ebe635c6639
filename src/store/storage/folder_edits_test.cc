#include "store/storage/folder_edits.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "store/storage/local_storage.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

class FolderEditsTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  bool has(const std::string& path) const { return fs::exists(fs::symlink_status(folder_.path() / path)); }
  Status remove(const std::string& path) { return remove_tree(*storage_, *changes_, path, "run.json"); }

  TestFolder folder_;
  std::unique_ptr<Storage> storage_ = open_local_storage(folder_.path());
  std::unique_ptr<FolderEdits> changes_ = open_local_edits(folder_.path());
};

TEST_F(FolderEditsTest, RemovesAFolderWithAllThatIsInIt) {
  write("a/run.json", "{}");
  write("a/journal/rank-00000/seg-00000000.tw", "x");
  write("b/run.json", "{}");
  EXPECT_TRUE(remove("a").ok());
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(has("b/run.json"));
  EXPECT_TRUE(remove("a").ok()) << "what is gone already is no error";
}

TEST_F(FolderEditsTest, RemovesALinkAndNotWhatItLeadsTo) {
  write("outside/precious", "x");
  write("a/run.json", "{}");
  fs::create_directory_symlink(folder_.path() / "outside", folder_.path() / "a/journal");
  fs::create_symlink(folder_.path() / "outside/precious", folder_.path() / "a/file");
  EXPECT_TRUE(remove("a").ok());
  EXPECT_FALSE(has("a"));
  EXPECT_TRUE(has("outside/precious"));
}

TEST_F(FolderEditsTest, ChangesNothingBehindALink) {
  write("outside/precious", "x");
  fs::create_directory_symlink(folder_.path() / "outside", folder_.path() / "link");
  EXPECT_EQ(changes_->remove_file("link/precious").code(), Code::kPermissionDenied);
  EXPECT_EQ(changes_->rename("link/precious", "link/other").code(), Code::kPermissionDenied);
  EXPECT_TRUE(has("outside/precious"));
  EXPECT_EQ(changes_->remove_file("../precious").code(), Code::kInvalidArgument);
}

TEST_F(FolderEditsTest, RenamesOntoNothingThatIsThere) {
  write("a/run.json", "{}");
  write("b/run.json", "{}");
  EXPECT_EQ(changes_->rename("a", "b").code(), Code::kAlreadyExists);
  EXPECT_TRUE(has("a/run.json"));
  EXPECT_TRUE(changes_->rename("a", "c").ok());
  EXPECT_TRUE(has("c/run.json"));
  EXPECT_FALSE(has("a"));
}

TEST_F(FolderEditsTest, AFileThatIsReplacedKeepsItsTime) {
  write("seg", "old");
  write("seg.tmp", "new");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1000);
  fs::last_write_time(folder_.path() / "seg", long_ago);
  EXPECT_TRUE(changes_->replace_file("seg.tmp", "seg").ok());
  EXPECT_EQ(storage_->read("seg").value(), "new");
  EXPECT_FALSE(has("seg.tmp"));
  EXPECT_EQ(fs::last_write_time(folder_.path() / "seg"), long_ago);
}

TEST_F(FolderEditsTest, ReplacesNoLink) {
  write("precious", "x");
  write("seg.tmp", "new");
  fs::create_symlink(folder_.path() / "precious", folder_.path() / "seg");
  EXPECT_EQ(changes_->replace_file("seg.tmp", "seg").code(), Code::kFailedPrecondition);
  EXPECT_EQ(storage_->read("precious").value(), "x");
}

TEST_F(FolderEditsTest, RefusesFoldersWithoutEnd) {
  fs::path deep = folder_.path() / "a";
  for (int i = 0; i < 80; ++i) deep /= "d";
  fs::create_directories(deep);
  EXPECT_EQ(remove("a").code(), Code::kFailedPrecondition);
}

TEST(NameWhileRemoved, IsToldFromOthers) {
  const std::string identity(32, 'a');
  EXPECT_TRUE(is_name_while_removed(name_while_removed(identity)));
  EXPECT_FALSE(is_name_while_removed(".removed-mine"));
  EXPECT_FALSE(is_name_while_removed(".removed-" + std::string(32, 'G')));
  EXPECT_FALSE(is_name_while_removed("removed-" + identity));
}

}  // namespace
}  // namespace trainwarden::storage
