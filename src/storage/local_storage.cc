#include "storage/local_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>

#include "storage/beneath.h"
#include "storage/local_file.h"
#include "storage/local_lock.h"
#include "storage/local_storage_ways.h"
#include "storage/path_rules.h"
#include "storage/put_file.h"
#include "storage/system_error.h"

namespace trainwarden::storage {
namespace {

class LocalStorage final : public Storage {
 public:
  explicit LocalStorage(Beneath beneath) : beneath_(std::move(beneath)) {}

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return create_local_file(beneath_, path);
  }

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return open_local_file(beneath_, path);
  }

  Status put_if_absent(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return put_file_if_absent(beneath_, path, content);
  }

  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return read_local_file(beneath_, path, limit_bytes);
  }

  Status create_folder(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
    return beneath_.create_folder(path);
  }

  Result<std::vector<std::string>> list(const std::string& path) const override;

  bool exists(const std::string& path) const override {
    return check_path(path).ok() && beneath_.open(path, O_PATH, "look at").ok();
  }

  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return lock_local_file(beneath_, path);
  }

  bool locked(const std::string& path) const override {
    return check_file_path(path).ok() && local_file_locked(beneath_, path);
  }
  std::optional<std::int64_t> lock_holder(const std::string& path) const override {
    return check_file_path(path).ok() ? local_lock_holder(beneath_, path) : std::nullopt;
  }

  std::string describe(const std::string& path) const override { return beneath_.describe(path); }

 private:
  const Beneath beneath_;
};

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

bool is_link(DIR& folder, const dirent& entry) {
  if (entry.d_type != DT_UNKNOWN) return entry.d_type == DT_LNK;
  struct stat about {};
  return ::fstatat(::dirfd(&folder), entry.d_name, &about, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(about.st_mode);
}

// With the system's own calls: std::filesystem makes a path of each name, which takes longer than finding it.
Result<std::vector<std::string>> LocalStorage::list(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  TRAINWARDEN_ASSIGN_OR_RETURN(FileDescriptor opened, beneath_.open(path, O_RDONLY | O_DIRECTORY, "list"));
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(opened.get()));
  if (folder == nullptr) return system_error(errno, "list", describe(path));
  opened.release();  // the folder's now
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && !is_link(*folder, *entry)) names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return system_error(errno, "list", describe(path));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::unique_ptr<Storage> open_local_storage(const std::filesystem::path& root) {
  return open_local_storage(root, Beneath::Way::kAtOnce);
}

std::unique_ptr<Storage> open_local_storage(const std::filesystem::path& root, Beneath::Way way) {
  return std::make_unique<LocalStorage>(Beneath(root, way));
}

}  // namespace trainwarden::storage
