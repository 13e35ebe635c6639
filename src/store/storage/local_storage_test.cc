// What only a real file system can show: other processes, full disks, folders that may not be written.
#include "store/storage/local_storage.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "core/base/folder_testing.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

Status append(WritableFile& file, std::string_view text) {
  const ByteSpan part = as_bytes(text);
  return file.append({&part, 1});
}

class LocalStorageTest : public testing::Test {
 protected:
  TestFolder folder_;
  std::unique_ptr<Storage> storage_ = open_local_storage(folder_.path());
};

// A child process that runs a function, says so, and waits for a signal to go on. _exit: none of the test's own
// destructors may run in it.
class Child {
 public:
  template <class Function>
  explicit Child(Function function) {
    EXPECT_EQ(::pipe(ready_), 0);
    EXPECT_EQ(::pipe(go_on_), 0);
    pid_ = ::fork();
    if (pid_ != 0) {
      close_end(ready_[1]);
      return;
    }
    close_end(go_on_[1]);
    const char answer = function() ? 'y' : 'n';
    char ignored = 0;
    if (::write(ready_[1], &answer, 1) == 1) (void)!::read(go_on_[0], &ignored, 1);
    ::_exit(0);
  }
  ~Child() {
    end(SIGKILL);
    for (const int end : {ready_[0], ready_[1], go_on_[0], go_on_[1]}) {
      if (end >= 0) ::close(end);
    }
  }

  // Waits until the function has run; whether it was true.
  bool succeeded() {
    char answer = 0;
    return ::read(ready_[0], &answer, 1) == 1 && answer == 'y';
  }
  void end(int signal) {
    if (pid_ <= 0) return;
    ::kill(pid_, signal);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
  pid_t pid() const { return pid_; }

 private:
  static void close_end(int& end) { ::close(std::exchange(end, -1)); }

  int ready_[2] = {-1, -1};
  int go_on_[2] = {-1, -1};
  pid_t pid_ = -1;
};

TEST_F(LocalStorageTest, ALockOfAnotherProcessHoldsUntilItDies) {
  std::unique_ptr<Lock> held_by_child;
  Child child([&] {
    auto lock = storage_->lock("lock");
    if (lock.ok()) held_by_child = *std::move(lock);
    return held_by_child != nullptr;
  });
  ASSERT_TRUE(child.succeeded());
  EXPECT_TRUE(storage_->locked("lock"));
  const Status refused = storage_->lock("lock").status();
  EXPECT_EQ(refused.code(), Code::kAlreadyExists);
  EXPECT_NE(refused.message().find("process " + std::to_string(child.pid())), std::string::npos) << refused.message();

  child.end(SIGKILL);
  EXPECT_FALSE(storage_->locked("lock"));
  EXPECT_TRUE(storage_->lock("lock").ok());
}

TEST_F(LocalStorageTest, AForkedChildNeitherKeepsNorFreesTheLock) {
  auto lock = std::move(storage_->lock("lock")).value();
  Child child([&] {
    lock.reset();  // must not free the parent's
    return storage_->locked("lock");
  });
  ASSERT_TRUE(child.succeeded());
  EXPECT_TRUE(storage_->locked("lock"));
  lock.reset();
  EXPECT_FALSE(storage_->locked("lock")) << "the child still holds it";
}

TEST_F(LocalStorageTest, TellsWhichProcessHoldsALock) {
  EXPECT_FALSE(storage_->lock_holder("lock"));
  std::unique_ptr<Lock> held_by_child;
  Child child([&] {
    auto lock = storage_->lock("lock");
    if (lock.ok()) held_by_child = *std::move(lock);
    return held_by_child != nullptr;
  });
  ASSERT_TRUE(child.succeeded());
  EXPECT_EQ(storage_->lock_holder("lock"), child.pid());
  child.end(SIGKILL);
  EXPECT_FALSE(storage_->lock_holder("lock"));
  EXPECT_FALSE(storage_->lock_holder("../lock"));
}

// The file is left over from a process that is gone, and its id has been given to another one.
TEST_F(LocalStorageTest, AProcessWhoseIdIsInTheFileHoldsNothingByThat) {
  Child innocent([] { return true; });
  ASSERT_TRUE(innocent.succeeded());
  std::ofstream(folder_.path() / "stale") << innocent.pid() << "\n";
  EXPECT_FALSE(storage_->lock_holder("stale"));
}

// As it is when the holder is on another machine, or in a container: the file names an id that is here somebody else's.
TEST_F(LocalStorageTest, AProcessThatDoesNotHoldTheLockItselfIsNotTheHolder) {
  std::ofstream(folder_.path() / "lock").close();
  Child innocent([&] {
    static std::ifstream file(folder_.path() / "lock");  // stays open, as a reader may have it
    return file.is_open();
  });
  ASSERT_TRUE(innocent.succeeded());
  const auto lock = storage_->lock("lock");
  ASSERT_TRUE(lock.ok());
  EXPECT_EQ(storage_->lock_holder("lock"), ::getpid());
  std::ofstream(folder_.path() / "lock", std::ios::in | std::ios::trunc) << innocent.pid() << "\n";
  EXPECT_TRUE(storage_->locked("lock"));
  EXPECT_FALSE(storage_->lock_holder("lock"));
  for (const char* text : {"", "none", "-1", "0", "99999999999999999999999"}) {
    std::ofstream(folder_.path() / "lock", std::ios::in | std::ios::trunc) << text;
    EXPECT_FALSE(storage_->lock_holder("lock")) << text;
  }
}

TEST_F(LocalStorageTest, TellsWhetherMappedBytesMayBeTouched) {
  constexpr std::size_t kBytes = 20'000;
  ASSERT_TRUE(storage_->put_if_absent("file", as_bytes(std::string(kBytes, 'x'))).ok());
  const auto file = storage_->open("file");
  ASSERT_TRUE(file.ok());
  const auto mapping = (*file)->map();
  ASSERT_TRUE(mapping.ok());
  EXPECT_EQ((*mapping)->bytes().size(), kBytes);
  EXPECT_TRUE((*mapping)->resident(0, kBytes));
  EXPECT_TRUE((*mapping)->resident(5000, 1));
  EXPECT_FALSE((*mapping)->resident(5000, kBytes));
  EXPECT_FALSE((*mapping)->resident(kBytes + 1, 0));
  std::filesystem::resize_file(folder_.path() / "file", 0);
  EXPECT_FALSE((*mapping)->resident(0, kBytes)) << "to touch what is gone would kill the process";
}

TEST_F(LocalStorageTest, TheOldHoldersIdIsReplaced) {
  std::ofstream(folder_.path() / "lock") << "123456789012\n";
  const auto lock = std::move(storage_->lock("lock")).value();
  EXPECT_EQ(storage_->read("lock").value_or(""), std::to_string(::getpid()) + "\n");
}

TEST_F(LocalStorageTest, PutIfAbsentLeavesNothingElseBehind) {
  const std::string text = "x";
  EXPECT_TRUE(storage_->put_if_absent("file", as_bytes(text)).ok());
  EXPECT_EQ(storage_->put_if_absent("file", as_bytes(text)).code(), Code::kAlreadyExists);
  EXPECT_EQ(storage_->put_if_absent("no/file", as_bytes(text)).code(), Code::kNotFound);
  EXPECT_EQ(storage_->list("").value_or({}), std::vector<std::string>{"file"});
}

TEST_F(LocalStorageTest, TheRootIsCreatedWithItsParents) {
  const auto storage = open_local_storage(folder_.path() / "runs" / "first");
  EXPECT_EQ(storage->list("").status().code(), Code::kNotFound);
  EXPECT_TRUE(storage->create_folder("journal").ok());
  EXPECT_EQ(storage->list("").value_or({}), std::vector<std::string>{"journal"});
}

TEST_F(LocalStorageTest, AnEmptyRootIsTheWorkingFolder) {
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  const Status put = open_local_storage("")->put_if_absent("file", as_bytes("x"));
  std::filesystem::current_path(before);
  EXPECT_TRUE(put.ok()) << put.to_string();
  EXPECT_EQ(storage_->read("file").value_or(""), "x");
}

TEST_F(LocalStorageTest, APipeInPlaceOfAFileDoesNotBlock) {
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(storage_->open("pipe").status().code(), Code::kNotFound);
  EXPECT_FALSE(storage_->locked("pipe"));
}

// Holds for the whole process, so each test that uses it puts it back.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

// The signal SIGXFSZ is not ignored here: the test would die of it.
TEST_F(LocalStorageTest, AFileSizeLimitIsAnErrorAndNotASignal) {
  const auto file = std::move(storage_->create("file")).value();
  const FileSizeLimit limit(1000);
  EXPECT_TRUE(append(*file, std::string(600, 'a')).ok());
  const Status refused = append(*file, std::string(600, 'b'));
  EXPECT_EQ(refused.code(), Code::kResourceExhausted) << refused.to_string();
  EXPECT_EQ(append(*file, "c").code(), Code::kFailedPrecondition);
  EXPECT_EQ(storage_->put_if_absent("put", as_bytes(std::string(2000, 'p'))).code(), Code::kResourceExhausted);
  EXPECT_EQ(storage_->list("").value_or({}), std::vector<std::string>{"file"});
}

// A disk of 64 KiB, where the system lets the tests have one (a file system of one's own wants privileges).
class SmallDisk {
 public:
  explicit SmallDisk(const std::filesystem::path& path, unsigned long flags = 0, const char* options = "size=64k")
      : path_(path), mounted_(::mount("tmpfs", path.c_str(), "tmpfs", flags, options) == 0) {}
  ~SmallDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  bool mounted() const { return mounted_; }
  void make_read_only() { ::mount("tmpfs", path_.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "size=64k"); }

 private:
  std::filesystem::path path_;
  bool mounted_;
};

TEST_F(LocalStorageTest, AFullDiskIsAnErrorAndWhatWasThereStays) {
  const SmallDisk disk(folder_.path());
  if (!disk.mounted()) GTEST_SKIP() << "this system does not let the test mount a small disk";
  const auto file = std::move(storage_->create("file")).value();
  ASSERT_TRUE(append(*file, std::string(50'000, 'a')).ok());
  const Status full = append(*file, std::string(50'000, 'b'));
  EXPECT_EQ(full.code(), Code::kResourceExhausted) << full.to_string();
  EXPECT_EQ(append(*file, "c").code(), Code::kFailedPrecondition);
  EXPECT_EQ(storage_->read("file").value_or("").substr(0, 50'000), std::string(50'000, 'a'));
  EXPECT_EQ(storage_->put_if_absent("put", as_bytes(std::string(50'000, 'p'))).code(), Code::kResourceExhausted);
  EXPECT_EQ(storage_->list("").value_or({}), std::vector<std::string>{"file"});
}

TEST_F(LocalStorageTest, AReadOnlyFolderCanStillBeRead) {
  SmallDisk disk(folder_.path());
  if (!disk.mounted()) GTEST_SKIP() << "this system does not let the test mount a small disk";
  ASSERT_TRUE(storage_->put_if_absent("file", as_bytes("text")).ok());
  disk.make_read_only();
  EXPECT_EQ(storage_->create("new").status().code(), Code::kPermissionDenied);
  EXPECT_EQ(storage_->put_if_absent("new", as_bytes("x")).code(), Code::kPermissionDenied);
  EXPECT_EQ(storage_->create_folder("new").code(), Code::kPermissionDenied);
  EXPECT_EQ(storage_->lock("file").status().code(), Code::kPermissionDenied);
  EXPECT_EQ(storage_->read("file").value_or(""), "text");
  EXPECT_FALSE(storage_->locked("file"));
}

TEST(SystemErrorTest, SaysWhatWasTriedAndWhatToDo) {
  const Status status = system_error(ENOSPC, "append to", "runs/x/seg");
  EXPECT_EQ(status.code(), Code::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "cannot append to runs/x/seg: No space left on device; free some space or choose another folder");
}

TEST(SystemErrorTest, CodesFollowTheReasons) {
  for (const int number : {ENOSPC, EDQUOT, EFBIG, EMFILE}) {
    EXPECT_EQ(system_error(number, "x", "y").code(), Code::kResourceExhausted) << number;
  }
  for (const int number : {EACCES, EPERM, EROFS}) {
    EXPECT_EQ(system_error(number, "x", "y").code(), Code::kPermissionDenied) << number;
  }
  EXPECT_EQ(system_error(EIO, "x", "y").code(), Code::kUnavailable);
  EXPECT_EQ(system_error(EEXIST, "x", "y").code(), Code::kAlreadyExists);
  EXPECT_EQ(system_error(EXDEV, "x", "y").code(), Code::kInternal);
}

}  // namespace
}  // namespace trainwarden::storage
