// Writing, flushing and renaming by system calls, which say what failed.
#include "training/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace bert {
namespace {

[[noreturn]] void fail(const std::string& what, const std::filesystem::path& path) {
  const int error = errno;
  throw std::runtime_error("Cannot " + what + " " + path.string() + ": " + std::strerror(error) + ".");
}

}  // namespace

DurableFile::DurableFile(const std::filesystem::path& path)
    : path_(path), descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) fail("create", path);
}

DurableFile::~DurableFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void DurableFile::write(const void* bytes, std::size_t count) {
  constexpr std::size_t kCallBytes = std::size_t{1} << 30;  // the system writes no more than 2 GiB at once
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, next, std::min(count, kCallBytes));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", path_);
    next += written;
    count -= static_cast<std::size_t>(written);
  }
}

void DurableFile::close() {
  if (::fsync(descriptor_) != 0) fail("flush", path_);
  const int closed = ::close(descriptor_);
  descriptor_ = -1;
  if (closed != 0) fail("close", path_);
}

void flush_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) fail("open", folder);
  const int flushed = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  if (flushed != 0) fail("flush", folder);
}

void put_in_place(const std::filesystem::path& partial, const std::filesystem::path& target) {
  if (::rename(partial.c_str(), target.c_str()) == 0) return;
  if (errno != ENOTEMPTY && errno != EEXIST) fail("rename to", target);
  if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) fail("replace", target);
}

}  // namespace bert
