#include "store/storage/local_storage.h"

#include <fcntl.h>

#include "store/storage/beneath.h"
#include "store/storage/local_file.h"
#include "store/storage/local_folder.h"
#include "store/storage/local_lock.h"
#include "store/storage/local_storage_ways.h"
#include "store/storage/path_rules.h"
#include "store/storage/put_file.h"

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

  Status replace(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return replace_file(beneath_, path, content);
  }

  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return read_local_file(beneath_, path, limit_bytes);
  }

  Status create_folder(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
    return beneath_.create_folder(path);
  }

  Result<std::vector<std::string>> list(const std::string& path) const override {
    return list_local_folder(beneath_, path);
  }
  Result<std::vector<Entry>> entries(const std::string& path) const override { return local_entries(beneath_, path); }
  Result<FileInfo> info(const std::string& path) const override { return local_info(beneath_, path); }

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

}  // namespace

std::unique_ptr<Storage> open_local_storage(const std::filesystem::path& root) {
  return open_local_storage(root, Beneath::Way::kAtOnce);
}

std::unique_ptr<Storage> open_local_storage(const std::filesystem::path& root, Beneath::Way way) {
  return std::make_unique<LocalStorage>(Beneath(root, way));
}

}  // namespace trainwarden::storage
