// OwnedDescriptor: a file that stays open from one call to the next, in a process whose other code is not ours.
//
// A program may close descriptors that it knows nothing of (a daemon, os.closerange(3, 256), a test runner), and the
// numbers then stand for files of its own. So the number is a high one where the system gives one: the program gets the
// numbers that it would get without us, and hardly ever one that was ours. And each use asks whether the number still
// stands for the file that was opened.
#pragma once

#include <cstdint>

#include "core/base/file_descriptor.h"

namespace trainwarden {

// What a descriptor stands for. Two are equal when they are of one file, which was opened to do the same with it. No
// two files share one as long as both are open: but for an eventfd, a timerfd, an epoll or inotify descriptor, and,
// before Linux 6.9, a pidfd; none of these can be owned.
struct DescriptorIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint32_t type = 0;  // of st_mode
  int access = -1;         // O_RDONLY, O_WRONLY, O_RDWR, with O_APPEND and O_PATH; -1: it is not open

  static DescriptorIdentity of(int number);
  bool is_open() const { return access >= 0; }
  friend bool operator==(const DescriptorIdentity&, const DescriptorIdentity&) = default;
};

// One thread at a time. A use costs some microsecond at most; no file system is asked for what is not in memory.
class OwnedDescriptor {
 public:
  OwnedDescriptor() = default;
  // Is not open when `opened` is not; nor, with errno, when its number is a standard stream's and there is no other.
  explicit OwnedDescriptor(FileDescriptor opened);
  OwnedDescriptor(OwnedDescriptor&& other) noexcept;
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept;
  ~OwnedDescriptor() { close(); }

  // Nobody has called close() or forget(). The program may have closed it all the same.
  bool is_open() const { return number_ >= 0; }
  // The number, for the one call of the system that comes next; -1, with errno EBADF, when it is ours no more.
  int get() const;
  int number() const { return number_; }  // unasked; to compare
  const DescriptorIdentity& identity() const { return identity_; }

  // 0, or the errno of close(2). What is ours no more is forgotten.
  int close();
  void forget() { number_ = -1; }

 private:
  int number_ = -1;
  DescriptorIdentity identity_;
};

}  // namespace trainwarden
