#include "store/storage/folder_edits.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "store/storage/beneath.h"
#include "store/storage/naming.h"
#include "store/storage/path_rules.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

constexpr std::string_view kRemovedPrefix = ".removed-";
constexpr std::size_t kIdentityDigits = 32;
constexpr int kDeepest = 64;  // folders in folders

std::string name_in_parent(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

class LocalFolderEdits final : public FolderEdits {
 public:
  explicit LocalFolderEdits(const std::filesystem::path& root) : beneath_(root) {}

  Status rename(const std::string& from, const std::string& to) override;
  Status replace_file(const std::string& from, const std::string& to) override;
  Status remove_file(const std::string& path) override { return remove(path, 0); }
  Status remove_folder(const std::string& path) override { return remove(path, AT_REMOVEDIR); }

 private:
  Result<FileDescriptor> open_parent(const std::string& path) const;
  Result<FileDescriptor> open_common_parent(const std::string& from, const std::string& to) const;
  Status remove(const std::string& path, int flags);

  Beneath beneath_;
};

Result<FileDescriptor> LocalFolderEdits::open_parent(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
  return beneath_.open(std::string(parent_path(path)), O_RDONLY | O_DIRECTORY, "change the folder");
}

Result<FileDescriptor> LocalFolderEdits::open_common_parent(const std::string& from, const std::string& to) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(to));
  if (parent_path(from) == parent_path(to)) return open_parent(from);
  return Status(Code::kInvalidArgument, fmt::format("{} and {} lie in different folders", from, to));
}

Status LocalFolderEdits::rename(const std::string& from, const std::string& to) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor parent, open_common_parent(from, to));
  const std::string old_name = name_in_parent(from);
  const std::string new_name = name_in_parent(to);
  int renamed = system_naming_calls().rename_if_absent(parent.get(), old_name.c_str(), new_name.c_str());
  if (renamed != 0 && (errno == ENOSYS || errno == EINVAL)) {
    // A file system that cannot promise it. A folder is never renamed onto another one that holds something.
    struct stat there {};
    const bool taken = ::fstatat(parent.get(), new_name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0;
    if (taken) errno = EEXIST;
    if (!taken) renamed = ::renameat(parent.get(), old_name.c_str(), parent.get(), new_name.c_str());
  }
  if (renamed != 0) return system_error(errno, "rename", beneath_.describe(from));
  return sync_folder(parent, beneath_.describe(std::string(parent_path(from))));
}

Status LocalFolderEdits::replace_file(const std::string& from, const std::string& to) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor parent, open_common_parent(from, to));
  const std::string old_name = name_in_parent(to);
  const std::string new_name = name_in_parent(from);
  struct stat there {};
  if (::fstatat(parent.get(), old_name.c_str(), &there, AT_SYMLINK_NOFOLLOW) != 0) {
    return system_error(errno, "replace", beneath_.describe(to));
  }
  if (!S_ISREG(there.st_mode)) {
    return Status(Code::kFailedPrecondition, fmt::format("{} is no file and is left alone", beneath_.describe(to)));
  }
  const std::array<timespec, 2> times = {there.st_atim, there.st_mtim};
  if (::utimensat(parent.get(), new_name.c_str(), times.data(), AT_SYMLINK_NOFOLLOW) != 0 ||
      ::renameat(parent.get(), new_name.c_str(), parent.get(), old_name.c_str()) != 0) {
    return system_error(errno, "replace", beneath_.describe(to));
  }
  return sync_folder(parent, beneath_.describe(std::string(parent_path(to))));
}

Status LocalFolderEdits::remove(const std::string& path, int flags) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor parent, open_parent(path));
  if (::unlinkat(parent.get(), name_in_parent(path).c_str(), flags) == 0) return Status();
  return system_error(errno, "remove", beneath_.describe(path));
}

Status gone_is_fine(Status status) {
  return status.code() == Code::kNotFound ? Status() : status;
}

Status remove_below(const Storage& storage, FolderEdits& changes, const std::string& path, int depth) {
  if (depth > kDeepest) {
    return Status(
        Code::kFailedPrecondition,
        fmt::format("{}: folders in folders, deeper than in any run; remove it by hand", storage.describe(path)));
  }
  const auto entries = storage.entries(path);
  if (!entries.ok()) return gone_is_fine(entries.status());
  for (const Entry& entry : *entries) {
    const std::string inside = path + "/" + entry.name;
    const bool folder = entry.info.kind == FileInfo::Kind::kFolder;
    TRAINWARDEN_RETURN_IF_ERROR(folder ? remove_below(storage, changes, inside, depth + 1)
                                       : gone_is_fine(changes.remove_file(inside)));
  }
  return gone_is_fine(changes.remove_folder(path));
}

}  // namespace

std::unique_ptr<FolderEdits> open_local_edits(const std::filesystem::path& root) {
  return std::make_unique<LocalFolderEdits>(root);
}

Status remove_tree(const Storage& storage, FolderEdits& changes, const std::string& path, const std::string& first) {
  const std::string before_all = path + "/" + first;
  const auto info = storage.info(before_all);
  if (info.ok() && info->kind != FileInfo::Kind::kFolder) {
    TRAINWARDEN_RETURN_IF_ERROR(gone_is_fine(changes.remove_file(before_all)));
  }
  return remove_below(storage, changes, path, 1);
}

std::string name_while_removed(const std::string& identity) {
  return std::string(kRemovedPrefix) + identity;
}

bool is_name_while_removed(const std::string& name) {
  return name.size() == kRemovedPrefix.size() + kIdentityDigits && name.starts_with(kRemovedPrefix) &&
         name.find_first_not_of("0123456789abcdef", kRemovedPrefix.size()) == std::string::npos;
}

}  // namespace trainwarden::storage
