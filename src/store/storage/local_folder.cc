// With the system's own calls: std::filesystem makes a path of each name, which takes longer than finding it.
#include "store/storage/local_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <initializer_list>
#include <memory>
#include <string_view>

#include "store/storage/path_rules.h"
#include "store/storage/system_error.h"

namespace trainwarden::storage {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

bool is_link(DIR& folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_LNK;
  struct stat about {};
  return ::fstatat(::dirfd(&folder), entry.d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode);
}

Result<OpenFolder> open_folder(const Beneath& beneath, const std::string& path) {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  TRAINWARDEN_ASSIGN_OR_RETURN(FileDescriptor opened, beneath.open(path, O_RDONLY | O_DIRECTORY, "list"));
  OpenFolder folder(::fdopendir(opened.get()));
  if (folder == nullptr) return system_error(errno, "list", beneath.describe(path));
  opened.release();  // the folder's now
  return folder;
}

// Calls take(folder, entry) for all but "." and "..".
template <class Take>
Status for_each_entry(const Beneath& beneath, const std::string& path, const Take& take) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const OpenFolder folder, open_folder(beneath, path));
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") take(*folder, *entry);
    errno = 0;
  }
  return errno == 0 ? Status() : system_error(errno, "list", beneath.describe(path));
}

std::int64_t ns_of(const statx_timestamp& time) {
  return time.tv_sec * kNsPerSecond + time.tv_nsec;
}

std::uint64_t mixed(std::initializer_list<std::uint64_t> values) {
  std::uint64_t hash = 1;
  for (const std::uint64_t value : values) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 32;
  }
  return hash == 0 ? 1 : hash;
}

// A folder changes with each name in it: of its own it has only the time of its birth, where the file system knows it.
std::uint64_t identity_of(const struct statx& about, bool is_folder) {
  const bool has_birth = (about.stx_mask & STATX_BTIME) != 0;
  const std::int64_t own_ns = !is_folder ? ns_of(about.stx_ctime) : has_birth ? ns_of(about.stx_btime) : 0;
  return mixed({about.stx_dev_major, about.stx_dev_minor, about.stx_ino, static_cast<std::uint64_t>(own_ns)});
}

FileInfo info_of(const struct statx& about) {
  FileInfo info;
  info.kind = S_ISREG(about.stx_mode)   ? FileInfo::Kind::kFile
              : S_ISDIR(about.stx_mode) ? FileInfo::Kind::kFolder
              : S_ISLNK(about.stx_mode) ? FileInfo::Kind::kLink
                                        : FileInfo::Kind::kOther;
  if (info.kind == FileInfo::Kind::kFile) info.bytes = about.stx_size;
  info.changed_unix_ns = ns_of(about.stx_mtime);
  info.identity = identity_of(about, info.kind == FileInfo::Kind::kFolder);
  return info;
}

bool look_at(int folder, const char* name, int flags, struct statx& about) {
  return ::statx(folder, name, flags | AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_BTIME, &about) == 0;
}

}  // namespace

Result<std::vector<std::string>> list_local_folder(const Beneath& beneath, const std::string& path) {
  std::vector<std::string> names;
  TRAINWARDEN_RETURN_IF_ERROR(for_each_entry(beneath, path, [&](DIR& folder, const dirent& entry) {
    if (!is_link(folder, entry)) names.emplace_back(entry.d_name);
  }));
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<Entry>> local_entries(const Beneath& beneath, const std::string& path) {
  std::vector<Entry> entries;
  TRAINWARDEN_RETURN_IF_ERROR(for_each_entry(beneath, path, [&](DIR& folder, const dirent& entry) {
    struct statx about {};
    if (look_at(::dirfd(&folder), entry.d_name, 0, about)) entries.push_back({entry.d_name, info_of(about)});
  }));
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

Result<FileInfo> local_info(const Beneath& beneath, const std::string& path) {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  TRAINWARDEN_ASSIGN_OR_RETURN(const FileDescriptor file, beneath.open(path, O_PATH, "look at"));
  struct statx about {};
  if (!look_at(file.get(), "", AT_EMPTY_PATH, about)) return system_error(errno, "look at", beneath.describe(path));
  return info_of(about);
}

}  // namespace trainwarden::storage
