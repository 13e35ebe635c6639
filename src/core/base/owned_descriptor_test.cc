#include "core/base/owned_descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <functional>
#include <string>
#include <utility>

#include "core/base/folder_testing.h"

namespace trainwarden {
namespace {

class OwnedDescriptorTest : public testing::Test {
 protected:
  FileDescriptor create(const std::string& name, int flags = O_RDWR) const {
    return FileDescriptor(::open((folder_.path() / name).c_str(), flags | O_CREAT | O_CLOEXEC, 0666));
  }

  // What a program does that closes what it knows nothing of, and then opens a file of its own.
  FileDescriptor put_in_place_of(const OwnedDescriptor& owned, const std::string& name, int flags = O_RDWR) const {
    const FileDescriptor file = create(name, flags);
    return FileDescriptor(::dup2(file.get(), owned.number()));
  }

  TestFolder folder_;
};

bool is_open(int number) {
  return ::fcntl(number, F_GETFD) >= 0;
}

// In a process of its own, whose descriptors and limits may be spoilt. _exit: none of the test's own destructors may
// run there.
bool holds_in_child(const std::function<bool()>& function) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(function() ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void limit_open_files(rlim_t most) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = most;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

TEST_F(OwnedDescriptorTest, LeavesTheNumberThatTheProgramWouldGetWithoutUs) {
  const int next = create("before").get();
  const OwnedDescriptor owned(create("ours"));
  ASSERT_TRUE(owned.is_open());
  EXPECT_EQ(create("after").get(), next);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_GE(static_cast<rlim_t>(owned.get()), std::min<rlim_t>(limit.rlim_cur / 8 * 7, 3584));
  EXPECT_EQ(::fcntl(owned.get(), F_GETFD), FD_CLOEXEC);
}

TEST_F(OwnedDescriptorTest, ClosesItsFile) {
  int number = -1;
  {
    const OwnedDescriptor owned(create("ours"));
    number = owned.get();
    EXPECT_TRUE(is_open(number));
  }
  EXPECT_FALSE(is_open(number));
  OwnedDescriptor closed(create("ours"));
  number = closed.get();
  EXPECT_EQ(closed.close(), 0);
  EXPECT_FALSE(is_open(number));
  EXPECT_FALSE(closed.is_open());
  EXPECT_EQ(closed.close(), 0);
  EXPECT_EQ(OwnedDescriptor(FileDescriptor()).get(), -1);
}

TEST_F(OwnedDescriptorTest, ItsFileStaysOursWhereverItsNameGoes) {
  const OwnedDescriptor owned(create("ours"));
  ASSERT_EQ(::write(owned.get(), "text", 4), 4);
  ASSERT_EQ(::fchmod(owned.get(), 0400), 0);
  std::filesystem::rename(folder_.path() / "ours", folder_.path() / "elsewhere");
  EXPECT_GE(owned.get(), 0);
  std::filesystem::remove(folder_.path() / "elsewhere");
  EXPECT_GE(owned.get(), 0);
}

TEST_F(OwnedDescriptorTest, OneThatTheProgramHasClosedIsForgotten) {
  OwnedDescriptor owned(create("ours"));
  ASSERT_EQ(::close(owned.number()), 0);
  EXPECT_TRUE(owned.is_open());
  EXPECT_EQ(owned.get(), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(owned.close(), 0);
  EXPECT_FALSE(owned.is_open());
}

TEST_F(OwnedDescriptorTest, AnotherFileUnderItsNumberIsNeitherUsedNorClosed) {
  FileDescriptor theirs;
  {
    OwnedDescriptor owned(create("ours"));
    theirs = put_in_place_of(owned, "theirs");
    EXPECT_EQ(owned.get(), -1);
    OwnedDescriptor moved(std::move(owned));
    EXPECT_EQ(moved.get(), -1);
    EXPECT_EQ(moved.close(), 0);
    EXPECT_TRUE(is_open(theirs.get()));
    OwnedDescriptor another(create("ours"));
    FileDescriptor also_theirs = put_in_place_of(another, "theirs");
    also_theirs.release();
    ::dup2(theirs.get(), another.number());
  }
  EXPECT_TRUE(is_open(theirs.get()));
  EXPECT_EQ(::write(theirs.get(), "theirs", 6), 6);
}

TEST_F(OwnedDescriptorTest, TheSameFileThatSomebodyElseHasOpenedToReadIsNotOurs) {
  const OwnedDescriptor owned(create("ours", O_WRONLY | O_APPEND));
  const FileDescriptor theirs = put_in_place_of(owned, "ours", O_RDONLY);
  EXPECT_EQ(owned.get(), -1);
}

TEST_F(OwnedDescriptorTest, PipesAndSocketsHaveAnIdentityToo) {
  int first[2] = {-1, -1};
  int second[2] = {-1, -1};
  ASSERT_EQ(::pipe(first), 0);
  ASSERT_EQ(::pipe(second), 0);
  const FileDescriptor end(first[0]), their_end(second[0]);
  const FileDescriptor theirs(second[1]);
  OwnedDescriptor owned{FileDescriptor(first[1])};
  EXPECT_GE(owned.get(), 0);
  const FileDescriptor taken(::dup2(theirs.get(), owned.number()));
  EXPECT_EQ(owned.get(), -1);
}

TEST_F(OwnedDescriptorTest, TakesNoNumberOfAStandardStream) {
  EXPECT_TRUE(holds_in_child([&] {
    for (int number = 0; number < 3; ++number) ::close(number);
    const OwnedDescriptor owned(create("ours"));
    return owned.get() >= 3 && !is_open(0) && !is_open(1) && !is_open(2);
  }));
  EXPECT_TRUE(holds_in_child([&] {  // rather none at all
    ::close(0);
    while (::open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) {
    }
    ::close(0);
    const OwnedDescriptor owned(create("ours"));
    return !owned.is_open() && !is_open(0);
  }));
}

TEST_F(OwnedDescriptorTest, KeepsALowNumberWhereThereIsNoHighOne) {
  EXPECT_TRUE(holds_in_child([&] {
    limit_open_files(64);
    while (::fcntl(2, F_DUPFD_CLOEXEC, 56) >= 0) {
    }
    const OwnedDescriptor owned(create("ours"));
    return owned.get() >= 3 && owned.get() < 56;
  }));
}

TEST_F(OwnedDescriptorTest, StaysOursWhenTheLimitIsLowered) {
  EXPECT_TRUE(holds_in_child([&] {
    const OwnedDescriptor owned(create("ours"));
    limit_open_files(16);
    const OwnedDescriptor later(create("later"));
    return owned.get() >= 16 && later.get() >= 3 && later.get() < 16 && ::write(owned.get(), "text", 4) == 4;
  }));
}

}  // namespace
}  // namespace trainwarden
