#include "work/workspace/code_copy.h"

#include <gtest/gtest.h>

#include <fstream>

#include "core/base/folder_testing.h"

namespace trainwarden::workspace {
namespace {

namespace fs = std::filesystem;

class CodeCopyTest : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_.path() / path).parent_path());
    std::ofstream(folder_.path() / path) << text;
  }
  std::string read(const std::string& path) const {
    std::ifstream file(folder_.path() / path);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TestFolder folder_;
};

TEST_F(CodeCopyTest, IsWhatTheSourcesWere) {
  write("src/train.py", "1");
  write("src/lib/model.py", "2");
  write("src/.git/HEAD", "x");
  write("src/lib/__pycache__/model.pyc", "x");
  write("common/shared.py", "3");
  fs::create_symlink("train.py", folder_.path() / "src/link.py");
  fs::permissions(folder_.path() / "src/train.py", fs::perms::owner_exec, fs::perm_options::add);
  ASSERT_TRUE(copy_code(folder_.path() / "src", {folder_.path() / "common"}, folder_.path() / "copy").ok());
  write("src/train.py", "changed");
  EXPECT_EQ(read("copy/train.py"), "1");
  EXPECT_EQ(read("copy/lib/model.py"), "2");
  EXPECT_EQ(read("copy/common/shared.py"), "3");
  EXPECT_EQ(read("copy/link.py"), "1");
  EXPECT_TRUE(fs::is_symlink(folder_.path() / "copy/link.py"));
  EXPECT_NE(fs::status(folder_.path() / "copy/train.py").permissions() & fs::perms::owner_exec, fs::perms::none);
  EXPECT_FALSE(fs::exists(folder_.path() / "copy/.git"));
  EXPECT_FALSE(fs::exists(folder_.path() / "copy/lib/__pycache__"));
}

TEST_F(CodeCopyTest, MoreThanSourcesAreIsRefusedAndLeavesNothing) {
  write("src/train.py", "1");
  std::ofstream(folder_.path() / "src/data.bin");
  fs::resize_file(folder_.path() / "src/data.bin", kMaxCodeBytes + 1);  // holes take no room
  const Status copied = copy_code(folder_.path() / "src", {}, folder_.path() / "copy");
  EXPECT_EQ(copied.code(), Code::kResourceExhausted);
  EXPECT_NE(copied.message().find("data.bin"), std::string::npos) << copied.message();
  EXPECT_FALSE(fs::exists(folder_.path() / "copy"));
}

TEST_F(CodeCopyTest, AMissingFolderIsAnErrorAndLeavesNothing) {
  EXPECT_FALSE(copy_code(folder_.path() / "nowhere", {}, folder_.path() / "copy").ok());
  EXPECT_FALSE(fs::exists(folder_.path() / "copy"));
}

}  // namespace
}  // namespace trainwarden::workspace
