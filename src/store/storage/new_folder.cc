#include "store/storage/new_folder.h"

#include <cerrno>
#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/file_descriptor.h"
#include "core/base/no_throw.h"
#include "core/base/text.h"
#include "store/storage/local_storage.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

namespace fs = std::filesystem;

Status name_taken(const fs::path& path) {
  return Status(Code::kAlreadyExists,
                fmt::format("{} is there already; name a folder that is not", printable(path.string())));
}

Status sync_folder(const fs::path& path) {
  const FileDescriptor folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (folder.get() < 0 || ::fsync(folder.get()) != 0) return system_error(errno, "sync the folder", path.string());
  return {};
}

Status sync_folders(const fs::path& path) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(path, error)) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) TRAINWARDEN_RETURN_IF_ERROR(sync_folder(entry.path()));
  }
  if (error) return system_error(error.value(), "look through", path.string());
  return sync_folder(path);
}

// Never in place of something. A file system that cannot promise that is asked first.
int rename_if_free(const fs::path& from, const fs::path& to) {
  constexpr unsigned kNoReplace = 1;  // RENAME_NOREPLACE
  if (::syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), kNoReplace) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  std::error_code error;
  if (fs::symlink_status(to, error).type() != fs::file_type::not_found) return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

NewFolder::NewFolder(const fs::path& path) : path_(path), unfinished_(path.string() + kUnfinishedEnding) {}

Result<std::unique_ptr<NewFolder>> NewFolder::begin(const fs::path& given) {
  return no_throw([&]() -> Result<std::unique_ptr<NewFolder>> {
    if (given.string().find("://") != std::string::npos || given.empty()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("expected a folder of this machine, found \"{}\"; make it here and copy it then",
                                printable(given.string())));
    }
    fs::path path = given;
    if (!path.has_filename()) path = path.parent_path();  // "runs/copy/"
    std::error_code error;
    if (fs::symlink_status(path, error).type() != fs::file_type::not_found) return name_taken(path);
    std::unique_ptr<NewFolder> folder(new NewFolder(path));
    TRAINWARDEN_RETURN_IF_ERROR(folder->prepare());
    return folder;
  });
}

// What is there under the unfinished name is ours when it has our lock in it, or nothing at all.
Status NewFolder::prepare() {
  std::error_code error;
  const fs::file_type type = fs::symlink_status(unfinished_, error).type();
  const bool is_there = type != fs::file_type::not_found;
  const bool is_ours = type == fs::file_type::directory &&
                       (fs::is_empty(unfinished_, error) || fs::is_regular_file(unfinished_ / kUnfinishedLock, error));
  if (is_there && !is_ours) {
    return Status(Code::kFailedPrecondition,
                  fmt::format("{} is in the way and was not left by a copy that was cut off; "
                              "move it",
                              printable(unfinished_.string())));
  }
  auto storage = open_local_storage(unfinished_);
  TRAINWARDEN_RETURN_IF_ERROR(storage->create_folder(""));
  auto lock = storage->lock(kUnfinishedLock);
  if (!lock.ok()) return lock.status().with_context("another process makes this folder");
  for (const auto& entry : fs::directory_iterator(unfinished_, error)) {
    std::error_code removal;
    if (entry.path().filename() == kUnfinishedLock) continue;
    fs::remove_all(entry.path(), removal);
    if (removal) return system_error(removal.value(), "remove", entry.path().string());
  }
  if (error) return system_error(error.value(), "look through", unfinished_.string());
  storage_ = std::move(storage);
  lock_ = *std::move(lock);
  return {};
}

NewFolder::~NewFolder() {
  if (lock_ == nullptr) return;  // finished, or never ours
  std::error_code ignored;
  fs::remove_all(unfinished_, ignored);
}

Status NewFolder::finish() {
  return no_throw([&]() -> Status {
    TRAINWARDEN_RETURN_IF_ERROR(sync_folders(unfinished_));
    const int failure = rename_if_free(unfinished_, path_);
    if (failure == EEXIST || failure == ENOTEMPTY) return name_taken(path_);
    if (failure != 0) return system_error(failure, "give its name to", path_.string());
    lock_.reset();
    std::error_code error;
    fs::remove(path_ / kUnfinishedLock, error);
    return sync_folder(path_.has_parent_path() ? path_.parent_path() : fs::path("."));
  });
}

}  // namespace trainwarden::storage
