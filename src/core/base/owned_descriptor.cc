#include "core/base/owned_descriptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace trainwarden {
namespace {

constexpr int kFirstAboveStandard = 3;
constexpr rlim_t kMostFirstNumber = 3584;  // the table of the system has a place for each number below

// The last eighth of what this process may have: what closes descriptors by numbers mostly stops before.
int first_number() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFirstAboveStandard;
  const rlim_t first = limit.rlim_cur / 8 * 7;
  return static_cast<int>(std::clamp<rlim_t>(first, kFirstAboveStandard, kMostFirstNumber));
}

// A number that is high is not given up for a lower one.
FileDescriptor moved_up(FileDescriptor opened) {
  if (!opened.is_open()) return opened;
  const int first = first_number();
  if (opened.get() >= first) return opened;
  FileDescriptor high(::fcntl(opened.get(), F_DUPFD_CLOEXEC, first));
  if (high.is_open()) return high;
  if (opened.get() >= kFirstAboveStandard) return opened;
  return FileDescriptor(::fcntl(opened.get(), F_DUPFD_CLOEXEC, kFirstAboveStandard));
}

}  // namespace

// By statx(), and for these two alone: of a network file system fstat() would ask the server, and before that send it
// all that was written, since it also says when the file was changed.
DescriptorIdentity DescriptorIdentity::of(int number) {
  DescriptorIdentity found;
  const int flags = ::fcntl(number, F_GETFL);
  if (flags < 0) return found;
  struct statx about {};
  struct stat older {};
  if (::statx(number, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &about) == 0) {
    found.device = ::makedev(about.stx_dev_major, about.stx_dev_minor);
    found.inode = about.stx_ino;
    found.type = about.stx_mode & S_IFMT;
  } else if (::fstat(number, &older) == 0) {  // a container's filter of system calls may not know statx()
    found.device = older.st_dev;
    found.inode = older.st_ino;
    found.type = older.st_mode & S_IFMT;
  } else {
    return found;
  }
  found.access = flags & (O_ACCMODE | O_APPEND | O_PATH);
  return found;
}

OwnedDescriptor::OwnedDescriptor(FileDescriptor opened) {
  FileDescriptor file = moved_up(std::move(opened));
  const int error = errno;
  if (file.is_open()) identity_ = DescriptorIdentity::of(file.get());
  number_ = file.release();
  errno = error;
}

OwnedDescriptor::OwnedDescriptor(OwnedDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)), identity_(other.identity_) {}

OwnedDescriptor& OwnedDescriptor::operator=(OwnedDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  std::swap(identity_, other.identity_);
  return *this;
}

int OwnedDescriptor::get() const {
  if (number_ >= 0 && DescriptorIdentity::of(number_) == identity_) return number_;
  errno = EBADF;
  return -1;
}

// Linux closes the file even when close() is interrupted.
int OwnedDescriptor::close() {
  const int number = is_open() ? get() : -1;
  forget();
  return number < 0 || ::close(number) == 0 || errno == EINTR ? 0 : errno;
}

}  // namespace trainwarden
