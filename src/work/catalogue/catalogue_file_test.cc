#include "work/catalogue/catalogue_file.h"

#include <fstream>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/folder_testing.h"

namespace trainwarden::catalogue {
namespace {

class CatalogueFileTest : public testing::Test {
 protected:
  std::filesystem::path place() const { return folder_.path() / "catalogue"; }
  std::filesystem::path file() const { return place() / "catalogue.db"; }

  // With one row of ours.
  void make_one() const {
    auto made = open_catalogue_file(place(), false);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    ASSERT_TRUE(made->database.execute("INSERT INTO place(kind, address) VALUES('jobs', '/a')").ok());
  }
  static std::int64_t count_places(CatalogueFile& catalogue) {
    return catalogue.database.read_integer("SELECT count(*) FROM place").value_or(-1);
  }

  TestFolder folder_;
};

TEST_F(CatalogueFileTest, IsMadeOnceAndStays) {
  make_one();
  auto again = open_catalogue_file(place(), false);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(again->notes.empty());
  EXPECT_EQ(count_places(*again), 1);
}

// As of a folder that is shared, where another user has listed first.
TEST_F(CatalogueFileTest, OneThatCannotBeWrittenIsLeftAloneAndSaid) {
  namespace fs = std::filesystem;
  make_one();
  fs::permissions(folder_.path(), fs::perms(0755));
  fs::permissions(file(), fs::perms(0444));
  fs::permissions(place(), fs::perms(0555));
  const pid_t other = ::fork();
  if (other == 0) {
    if (::geteuid() == 0 && ::setuid(65534) != 0) ::_exit(2);
    auto opened = open_catalogue_file(place(), false);
    if (!opened.ok()) ::_exit(3);
    if (opened->notes.size() != 1 || count_places(*opened) != 0) ::_exit(4);
    ::_exit(opened->database.execute("INSERT INTO place(kind, address) VALUES('jobs', '/b')").ok() ? 0 : 5);
  }
  int status = 0;
  ::waitpid(other, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  fs::permissions(place(), fs::perms(0755));
  fs::permissions(file(), fs::perms(0644));
  auto again = open_catalogue_file(place(), false);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(count_places(*again), 1);
}

TEST_F(CatalogueFileTest, IsOneFileWithoutSharedMemoryWhereTheNetworkIs) {
  auto made = open_catalogue_file(place(), true);
  ASSERT_TRUE(made.ok());
  ASSERT_TRUE(made->database.execute("INSERT INTO place(kind, address) VALUES('jobs', '/a')").ok());
  EXPECT_FALSE(std::filesystem::exists(file().string() + "-shm"));
  EXPECT_FALSE(std::filesystem::exists(file().string() + "-wal"));
  EXPECT_TRUE(is_on_network("/proc/self/no/such/folder") == false);
}

// Every page of the file damaged in turn: it is either read as it was, or made anew and said so.
TEST_F(CatalogueFileTest, DamageIsFoundAndMadeAnew) {
  make_one();
  std::string whole(std::filesystem::file_size(file()), '\0');
  std::ifstream(file(), std::ios::binary).read(whole.data(), static_cast<std::streamsize>(whole.size()));
  ASSERT_GE(whole.size(), 4096u);
  std::size_t made_anew = 0;
  for (std::size_t begin = 0; begin < 100; begin += 4) {
    std::string damaged = whole;
    damaged.replace(begin, 4, "\xff\xff\xff\xff");
    std::ofstream(file(), std::ios::binary | std::ios::trunc) << damaged;
    auto opened = open_catalogue_file(place(), false);
    if (opened.status().code() == Code::kFailedPrecondition) continue;  // the bytes that say whose it is
    ASSERT_TRUE(opened.ok()) << begin << ": " << opened.status().to_string();
    const bool anew = !opened->notes.empty();
    made_anew += anew;
    EXPECT_EQ(count_places(*opened), anew ? 0 : 1) << begin;
  }
  EXPECT_GE(made_anew, 5u);
  std::ofstream(file(), std::ios::binary | std::ios::trunc) << "this is no database, " << std::string(5000, 'x');
  auto opened = open_catalogue_file(place(), false);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  ASSERT_EQ(opened->notes.size(), 1u);
  EXPECT_NE(opened->notes[0].find("made anew"), std::string::npos);
}

TEST_F(CatalogueFileTest, OneOfAnotherVersionIsMadeAnew) {
  make_one();
  {
    auto database = Database::open(file(), true);
    ASSERT_TRUE(database.ok() && database->execute("PRAGMA user_version=77").ok());
  }
  auto opened = open_catalogue_file(place(), false);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ(count_places(*opened), 0);
  EXPECT_EQ(opened->notes.size(), 1u);
}

TEST_F(CatalogueFileTest, AnotherProgramsDatabaseStays) {
  std::filesystem::create_directories(place());
  {
    auto database = Database::open(file(), true);
    ASSERT_TRUE(database.ok() && database->execute("CREATE TABLE thesis(page)").ok());
  }
  EXPECT_EQ(open_catalogue_file(place(), false).status().code(), Code::kFailedPrecondition);
  auto database = Database::open(file(), true);
  EXPECT_TRUE(database.ok() && database->execute("SELECT * FROM thesis").ok());
}

TEST_F(CatalogueFileTest, NoLinkIsFollowed) {
  make_one();
  const std::filesystem::path elsewhere = folder_.path() / "elsewhere.db";
  std::filesystem::rename(file(), elsewhere);
  std::filesystem::create_symlink(elsewhere, file());
  auto opened = open_catalogue_file(place(), false);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  EXPECT_EQ(count_places(*opened), 0) << "what the link leads to was opened";
  ASSERT_EQ(opened->notes.size(), 1u);
  EXPECT_NE(opened->notes[0].find("cannot be kept"), std::string::npos);
}

TEST_F(CatalogueFileTest, LiesInMemoryWhereNoFolderCanBeMade) {
  std::ofstream(folder_.path() / "file") << "x";
  auto opened = open_catalogue_file(folder_.path() / "file" / "catalogue", false);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  ASSERT_EQ(opened->notes.size(), 1u);
  EXPECT_EQ(count_places(*opened), 0);
}

}  // namespace
}  // namespace trainwarden::catalogue
