// Writing, flushing and renaming by system calls, which say what failed.
#include "files/writing.h"

#include <cstdio>
#include <random>
#include <string>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "files/failure.h"

namespace bert {
namespace {

// Names of files in it: a name is safe on disk once its folder is.
void flush_folder(const std::filesystem::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw system_failure(folder, "cannot open this folder");
  const int flushed = ::fsync(descriptor);
  const int error = errno;
  ::close(descriptor);
  errno = error;
  if (flushed != 0) throw system_failure(folder, "cannot flush this folder to disk");
}

std::filesystem::path folder_of(const std::filesystem::path& file) {
  return file.has_parent_path() ? file.parent_path() : std::filesystem::path(".");
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path file) : file_(std::move(file)) {
  std::filesystem::path partial = file_;
  partial += "." + std::to_string(std::random_device()()) + ".part";
  descriptor_ = ::open(partial.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0) throw system_failure(file_, "cannot make a file here");
  partial_ = std::move(partial);
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!partial_.empty()) ::unlink(partial_.c_str());
}

void AtomicFile::append(const void* bytes, std::size_t count) {
  const char* next = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::write(descriptor_, next, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_failure(file_, "cannot write this file, and left what was there before");
    next += written;
    count -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_) != 0) throw system_failure(file_, "cannot flush this file to disk");
  const int closed = ::close(std::exchange(descriptor_, -1));
  if (closed != 0) throw system_failure(file_, "cannot close this file");
  if (::rename(partial_.c_str(), file_.c_str()) != 0) throw system_failure(file_, "cannot give this file its name");
  partial_.clear();
  flush_folder(folder_of(file_));
}

void write_text(const std::filesystem::path& file, std::string_view text) {
  AtomicFile out(file);
  out.append(text);
  out.commit();
}

void put_folder_in_place(const std::filesystem::path& partial, const std::filesystem::path& target) {
  if (::rename(partial.c_str(), target.c_str()) != 0) {
    if (errno != ENOTEMPTY && errno != EEXIST) throw system_failure(target, "cannot give this folder its name");
    // One is there: they change places.
    if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0) {
      throw system_failure(target, "cannot replace this folder");
    }
  }
  flush_folder(folder_of(target));
  std::filesystem::remove_all(partial);
}

}  // namespace bert
