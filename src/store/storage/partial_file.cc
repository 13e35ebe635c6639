#include "store/storage/partial_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "store/storage/path_rules.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

constexpr std::string_view kPartialEnding = ".trainwarden-part";
constexpr std::size_t kMostOfName = 180;  // of 255 bytes that a name may have
constexpr std::int64_t kNsOfSecond = 1'000'000'000;

std::string last_part(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

Result<FileDescriptor> folder_of(const Beneath& beneath, const std::string& path) {
  return beneath.open(std::string(parent_path(path)), O_RDONLY | O_DIRECTORY, "open the folder of");
}

bool is_gone(int error_number) {
  return error_number == ENOENT || error_number == ENOTDIR;
}

}  // namespace

bool is_partial_name(std::string_view name) {
  return name.starts_with('.') && name.ends_with(kPartialEnding);
}

std::string partial_beginning(std::string_view name) {
  return fmt::format(".{}.", name.substr(0, kMostOfName));
}

Result<std::unique_ptr<PartialFile>> PartialFile::open(const Beneath& beneath, const std::string& path,
                                                       const std::string& key) {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
  TRAINWARDEN_RETURN_IF_ERROR(beneath.create_folder(std::string(parent_path(path))));
  TRAINWARDEN_ASSIGN_OR_RETURN(FileDescriptor folder, folder_of(beneath, path));
  const std::string name = last_part(path);
  const std::string temporary = fmt::format("{}{}{}", partial_beginning(name), key, kPartialEnding);
  const std::string parent(parent_path(path));
  const std::string temporary_path = parent.empty() ? temporary : fmt::format("{}/{}", parent, temporary);
  TRAINWARDEN_ASSIGN_OR_RETURN(FileDescriptor file, beneath.open(temporary_path, O_RDWR | O_CREAT, "create", 0666));
  std::unique_ptr<PartialFile> opened(
      new PartialFile(std::move(folder), std::move(file), name, temporary, beneath.describe(path)));
  struct stat about {};
  if (::fstat(opened->file_.get(), &about) != 0) return opened->error("look at");
  if (!S_ISREG(about.st_mode) || about.st_nlink > 1) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{} is no file of one name: remove it", beneath.describe(temporary_path)));
  }
  if (::flock(opened->file_.get(), LOCK_EX | LOCK_NB) != 0) {
    return Status(Code::kAlreadyExists,
                  fmt::format("another process is copying to {}; wait for its end", opened->described_));
  }
  // It may have got its name, or was given up, between the opening and the lock: then it is another file by now.
  struct stat named {};
  const bool is_same = ::fstatat(opened->folder_.get(), temporary.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                       named.st_ino == about.st_ino && named.st_dev == about.st_dev;
  if (!is_same) {
    return Status(Code::kAlreadyExists,
                  fmt::format("another process was copying to {}; try again", opened->described_));
  }
  opened->bytes_ = static_cast<std::uint64_t>(about.st_size);
  return opened;
}

Status PartialFile::error(std::string_view action) const {
  return system_error(errno, action, described_);
}

Status PartialFile::cut(std::uint64_t bytes) {
  if (bytes >= bytes_) return {};
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0) return error("cut");
  bytes_ = bytes;
  return {};
}

Status PartialFile::append(ByteSpan content) {
  while (!content.empty()) {
    const ssize_t count = ::pwrite(file_.get(), content.data(), content.size(), static_cast<off_t>(bytes_));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error("write");
    bytes_ += static_cast<std::uint64_t>(count);
    content = content.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

Result<std::size_t> PartialFile::read_at(std::uint64_t offset, MutableByteSpan destination) const {
  std::size_t taken = 0;
  while (taken < destination.size()) {
    const MutableByteSpan rest = destination.subspan(taken);
    const ssize_t count = ::pread(file_.get(), rest.data(), rest.size(), static_cast<off_t>(offset + taken));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return error("read");
    if (count == 0) break;
    taken += static_cast<std::size_t>(count);
  }
  return taken;
}

Status PartialFile::finish(std::int64_t changed_unix_ns) {
  if (changed_unix_ns > 0) {
    const timespec time{.tv_sec = changed_unix_ns / kNsOfSecond, .tv_nsec = changed_unix_ns % kNsOfSecond};
    const timespec times[2] = {time, time};
    if (::futimens(file_.get(), times) != 0) return error("set the time of");
  }
  // A name whose content a power loss takes away would be taken for the whole file.
  if (::fdatasync(file_.get()) != 0) return error("sync");
  if (::renameat(folder_.get(), temporary_.c_str(), folder_.get(), name_.c_str()) != 0) return error("replace");
  return {};
}

void PartialFile::discard() {
  ::unlinkat(folder_.get(), temporary_.c_str(), 0);
}

Status remove_local_file(const Beneath& beneath, const std::string& path) {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
  auto folder = folder_of(beneath, path);
  if (!folder.ok()) return folder.status().code() == Code::kNotFound ? Status() : folder.status();
  const bool is_removed = ::unlinkat(folder->get(), last_part(path).c_str(), 0) == 0 || is_gone(errno);
  return is_removed ? Status() : system_error(errno, "remove", beneath.describe(path));
}

Result<bool> remove_partial_file(const Beneath& beneath, const std::string& path) {
  const auto file = beneath.open(path, O_RDONLY | O_NONBLOCK, "open");
  if (!file.ok()) return file.status().code() == Code::kNotFound ? Result<bool>(false) : file.status();
  if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) return false;
  TRAINWARDEN_RETURN_IF_ERROR(remove_local_file(beneath, path));
  return true;
}

void remove_empty_folders(const Beneath& beneath, std::string path) {
  while (!path.empty() && check_path(path).ok()) {
    const auto folder = folder_of(beneath, path);
    if (!folder.ok() || ::unlinkat(folder->get(), last_part(path).c_str(), AT_REMOVEDIR) != 0) return;
    path = parent_path(path);
  }
}

}  // namespace trainwarden::storage
