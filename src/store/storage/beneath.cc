#include "store/storage/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "store/storage/path_rules.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

int fail(int error_number) {
  errno = error_number;
  return -1;
}

int open_at_once(int root, const std::string& path, int flags, mode_t mode) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how));
}

bool is_link(int folder, const std::string& name) {
  struct stat about {};
  return ::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode);
}

// One part of a path. ELOOP for a link, as openat2 has it: with O_DIRECTORY openat says ENOTDIR, with O_PATH it opens
// the link itself.
int open_part(int folder, const std::string& name, int flags, mode_t mode) {
  const int file = ::openat(folder, name.c_str(), flags | O_NOFOLLOW, mode);
  if (file < 0) return errno == ENOTDIR && is_link(folder, name) ? fail(ELOOP) : fail(errno);
  struct stat about {};
  if ((flags & O_PATH) == 0 || ::fstat(file, &about) != 0 || !S_ISLNK(about.st_mode)) return file;
  ::close(file);
  return fail(ELOOP);
}

int open_by_parts(int root, std::string_view path, int flags, mode_t mode) {
  FileDescriptor folder;
  for (std::size_t slash; (slash = path.find('/')) != path.npos; path.remove_prefix(slash + 1)) {
    const int from = folder.is_open() ? folder.get() : root;
    folder = FileDescriptor(open_part(from, std::string(path.substr(0, slash)), O_PATH | O_DIRECTORY | O_CLOEXEC, 0));
    if (!folder.is_open()) return -1;
  }
  return open_part(folder.is_open() ? folder.get() : root, std::string(path), flags, mode);
}

Status sync_parent(const std::filesystem::path& folder) {
  const std::filesystem::path parent = folder.has_parent_path() ? folder.parent_path() : ".";
  const FileDescriptor opened(::open(parent.c_str(), kFolder));
  if (!opened.is_open()) return system_error(errno, "sync", parent.string());
  return sync_folder(opened, parent.string());
}

// The user's own path, through links or not.
Status create_root(const std::filesystem::path& root) {
  if (::access(root.c_str(), F_OK) == 0) return Status();
  if (root.has_parent_path() && root.parent_path() != root) {
    TRAINWARDEN_RETURN_IF_ERROR(create_root(root.parent_path()));
  }
  if (!root.has_filename()) return Status();  // "runs/first/"
  if (::mkdir(root.c_str(), 0777) == 0) return sync_parent(root);
  return errno == EEXIST ? Status() : system_error(errno, "create folder", root.string());
}

}  // namespace

Beneath::Beneath(std::filesystem::path root, Way way) : root_(root.empty() ? "." : std::move(root)), way_(way) {}

std::string Beneath::describe(const std::string& path) const {
  return path.empty() ? root_.string() : (root_ / path).string();
}

Status Beneath::error(int error_number, std::string_view action, const std::string& path) const {
  if (error_number != ELOOP) return system_error(error_number, action, describe(path));
  return Status(Code::kPermissionDenied,
                fmt::format("cannot {} {}: it is, or lies behind, a symbolic link, and within {} none is followed; put "
                            "what the link leads to in its place",
                            action, describe(path), root_.string()));
}

FileDescriptor Beneath::open_root() const {
  return FileDescriptor(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

// EPERM may be a container's filter of system calls, or about the file: openat knows which.
int Beneath::try_open(const FileDescriptor& root, const std::string& path, int flags, mode_t mode) const {
  if (way_ == Way::kAtOnce) {
    const int file = open_at_once(root.get(), path, flags, mode);
    if (file >= 0 || (errno != ENOSYS && errno != EPERM)) return file;
  }
  return open_by_parts(root.get(), path, flags, mode);
}

Result<FileDescriptor> Beneath::open(const std::string& path, int flags, std::string_view action, mode_t mode) const {
  if (path.empty()) {
    FileDescriptor root(::open(root_.c_str(), flags | O_CLOEXEC, mode));
    return root.is_open() ? Result<FileDescriptor>(std::move(root)) : system_error(errno, action, describe(path));
  }
  const FileDescriptor root = open_root();
  if (!root.is_open()) return system_error(errno, action, describe(path));
  FileDescriptor file(try_open(root, path, flags | O_CLOEXEC, mode));
  if (!file.is_open()) return error(errno, action, path);
  return file;
}

Status Beneath::create_folder(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(create_root(root_));
  TRAINWARDEN_ASSIGN_OR_RETURN(FileDescriptor folder, open("", kFolder, "create folder"));
  for (std::size_t begin = 0; begin < path.size();) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    FileDescriptor made;
    TRAINWARDEN_RETURN_IF_ERROR(create_part(folder, path.substr(begin, end - begin), path.substr(0, end), made));
    folder = std::move(made);
    begin = end + 1;
  }
  return Status();
}

Status Beneath::create_part(const FileDescriptor& parent, const std::string& name, const std::string& path,
                            FileDescriptor& made) const {
  if (::mkdirat(parent.get(), name.c_str(), 0777) == 0) {
    TRAINWARDEN_RETURN_IF_ERROR(sync_folder(parent, describe(std::string(parent_path(path)))));
  } else if (errno != EEXIST) {
    return error(errno, "create folder", path);
  }
  made = FileDescriptor(open_part(parent.get(), name, kFolder, 0));
  return made.is_open() ? Status() : error(errno, "create folder", path);
}

Status sync_folder(const FileDescriptor& folder, const std::string& path) {
  // EINVAL: a file system that knows no syncing of folders. There is nothing more to do on it.
  if (::fsync(folder.get()) != 0 && errno != EINVAL) return system_error(errno, "sync", path);
  return Status();
}

}  // namespace trainwarden::storage
