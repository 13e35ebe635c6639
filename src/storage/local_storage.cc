#include "storage/local_storage.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include <fmt/format.h>

#include "storage/local_file.h"
#include "storage/local_lock.h"
#include "storage/path_rules.h"
#include "storage/system_error.h"

namespace trainwarden::storage {
namespace {

class LocalStorage final : public Storage {
 public:
  explicit LocalStorage(std::filesystem::path root) : root_(root.empty() ? "." : std::move(root)) {}

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return create_local_file(describe(path));
  }

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return open_local_file(describe(path));
  }

  Status put_if_absent(const std::string& path, ByteSpan content) override;
  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override;
  Status create_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) const override;

  bool exists(const std::string& path) const override {
    return check_path(path).ok() && ::access(describe(path).c_str(), F_OK) == 0;
  }

  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return lock_local_file(describe(path));
  }

  bool locked(const std::string& path) const override {
    return check_file_path(path).ok() && local_file_locked(describe(path));
  }
  std::optional<std::int64_t> lock_holder(const std::string& path) const override {
    return check_file_path(path).ok() ? local_lock_holder(describe(path)) : std::nullopt;
  }

  std::string describe(const std::string& path) const override {
    return path.empty() ? root_.string() : (root_ / path).string();
  }

 private:
  std::filesystem::path root_;
};

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// A file that is there under a name of its own until it goes.
class TemporaryFile {
 public:
  // Beside `path`: a link cannot cross file systems.
  explicit TemporaryFile(const std::string& path) {
    static std::atomic<std::uint64_t> count{0};
    path_ = fmt::format("{}.{}-{}.tmp", path, ::getpid(), count.fetch_add(1));
  }
  ~TemporaryFile() { ::unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// link() refuses to replace what is there, on every file system that people share between machines.
Status LocalStorage::put_if_absent(const std::string& path, ByteSpan content) {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
  const std::string full_path = describe(path);
  const TemporaryFile temporary(full_path);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, create_local_file(temporary.path()));
  TRAINWARDEN_RETURN_IF_ERROR(file->append({&content, 1}));
  TRAINWARDEN_RETURN_IF_ERROR(file->sync());
  TRAINWARDEN_RETURN_IF_ERROR(file->close());
  if (::link(temporary.path().c_str(), full_path.c_str()) != 0) return system_error(errno, "create", full_path);
  return sync_local_folder(std::filesystem::path(full_path).parent_path().string());
}

Result<std::string> LocalStorage::read(const std::string& path, std::uint64_t limit_bytes) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
  return read_local_file(describe(path), limit_bytes);
}

Status LocalStorage::create_folder(const std::string& path) {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  std::error_code error;
  std::filesystem::create_directories(describe(path), error);
  return error ? system_error(error.value(), "create folder", describe(path)) : Status();
}

// With the system's own calls: std::filesystem makes a path of each name, which takes longer than finding it.
Result<std::vector<std::string>> LocalStorage::list(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  const std::unique_ptr<DIR, CloseFolder> folder(::opendir(describe(path).c_str()));
  if (folder == nullptr) return system_error(errno, "list", describe(path));
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
    errno = 0;
  }
  if (errno != 0) return system_error(errno, "list", describe(path));
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::unique_ptr<Storage> open_local_storage(const std::filesystem::path& root) {
  return std::make_unique<LocalStorage>(root);
}

}  // namespace trainwarden::storage
