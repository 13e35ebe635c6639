#include "work/jobs/owner_seal.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "core/base/folder_testing.h"

namespace trainwarden::jobs {
namespace {

namespace fs = std::filesystem;

// With a folder of state of its own, so that the user's key is left alone.
class OwnerSealTest : public testing::Test {
 protected:
  void SetUp() override { move_state("state"); }
  void TearDown() override { ::unsetenv("XDG_STATE_HOME"); }
  void move_state(const char* name) { ::setenv("XDG_STATE_HOME", (folder_.path() / name).c_str(), 1); }
  fs::path key(const char* state = "state") const { return folder_.path() / state / "trainwarden/key"; }

  TestFolder folder_;
};

TEST_F(OwnerSealTest, HoldsForItsTextAndFolderAlone) {
  const fs::path jobs = folder_.path() / "jobs";
  const Result<std::string> seal = owner_seal("text", jobs);
  ASSERT_TRUE(seal.ok()) << seal.status().to_string();
  EXPECT_EQ(seal->size(), 64u);
  EXPECT_TRUE(check_owner_seal("text", jobs, *seal, "job a").ok());
  EXPECT_TRUE(check_owner_seal("text", jobs / ".." / "jobs", *seal, "job a").ok()) << "the same folder";
  for (const Status& status :
       {check_owner_seal("texts", jobs, *seal, "job a"),
        check_owner_seal("text", folder_.path() / "copy", *seal, "job a"), check_owner_seal("text", jobs, "", "job a"),
        check_owner_seal("text", jobs, std::string(64, '0'), "job a")}) {
    EXPECT_EQ(status.code(), Code::kPermissionDenied);
    EXPECT_NE(status.message().find("job a was not made by this user"), std::string::npos) << status.message();
  }
}

TEST_F(OwnerSealTest, AnotherUserHasAnotherKey) {
  const std::string seal = owner_seal("text", folder_.path()).value_or("");
  move_state("other");
  EXPECT_EQ(check_owner_seal("text", folder_.path(), seal, "job a").code(), Code::kPermissionDenied);
  move_state("state");
  EXPECT_TRUE(check_owner_seal("text", folder_.path(), seal, "job a").ok()) << "a key is made once";
}

TEST_F(OwnerSealTest, OnlyAKeyOfTheUsersOwnIsTaken) {
  ASSERT_TRUE(owner_seal("text", folder_.path()).ok());
  struct stat info {};
  ASSERT_EQ(::stat(key().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  fs::permissions(key(), fs::perms::group_read, fs::perm_options::add);
  EXPECT_NE(owner_seal("text", folder_.path()).status().message().find("chmod 600"), std::string::npos);

  fs::create_directories(key("linked").parent_path());
  fs::create_symlink(key(), key("linked"));
  move_state("linked");
  EXPECT_EQ(owner_seal("text", folder_.path()).status().code(), Code::kFailedPrecondition) << "no link is followed";

  fs::create_directories(key("short").parent_path());
  std::ofstream(key("short")) << "short";
  fs::permissions(key("short"), fs::perms::owner_read | fs::perms::owner_write);
  move_state("short");
  EXPECT_NE(owner_seal("text", folder_.path()).status().message().find("32 bytes"), std::string::npos);
}

// As a program of systemd or cron is started.
TEST_F(OwnerSealTest, WithoutHomeTheListOfUsersSaysWhereTheKeyLies) {
  const char* const home = std::getenv("HOME");
  const std::string before = home == nullptr ? "" : home;
  ::unsetenv("XDG_STATE_HOME");
  ::unsetenv("HOME");
  const passwd* const user = ::getpwuid(::geteuid());
  const fs::path listed = user == nullptr ? fs::path() : fs::path(user->pw_dir) / ".local/state/trainwarden/key";
  EXPECT_EQ(owner_key_file(), listed);
  ::setenv("HOME", "/somewhere", 1);
  EXPECT_EQ(owner_key_file(), "/somewhere/.local/state/trainwarden/key");
  home == nullptr ? ::unsetenv("HOME") : ::setenv("HOME", before.c_str(), 1);
}

}  // namespace
}  // namespace trainwarden::jobs
