#include "store/storage/prefix_storage.h"

#include <utility>

#include <fmt/format.h>

#include "store/storage/path_rules.h"

namespace trainwarden::storage {
namespace {

class PrefixStorage final : public Storage {
 public:
  PrefixStorage(std::shared_ptr<Storage> base, std::string prefix)
      : base_(std::move(base)), prefix_(std::move(prefix)) {}

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return base_->create(whole(path));
  }
  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return base_->open(whole(path));
  }
  Status put_if_absent(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return base_->put_if_absent(whole(path), content);
  }
  Status replace(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return base_->replace(whole(path), content);
  }
  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return base_->read(whole(path), limit_bytes);
  }
  Status create_folder(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
    return base_->create_folder(whole(path));
  }
  Result<std::vector<std::string>> list(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
    return base_->list(whole(path));
  }
  Result<std::vector<Entry>> entries(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
    return base_->entries(whole(path));
  }
  Result<FileInfo> info(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
    return base_->info(whole(path));
  }
  bool exists(const std::string& path) const override { return check_path(path).ok() && base_->exists(whole(path)); }
  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return base_->lock(whole(path));
  }
  bool locked(const std::string& path) const override {
    return check_file_path(path).ok() && base_->locked(whole(path));
  }
  bool has_locks() const override { return base_->has_locks(); }
  std::optional<std::int64_t> lock_holder(const std::string& path) const override {
    return check_file_path(path).ok() ? base_->lock_holder(whole(path)) : std::nullopt;
  }
  std::string describe(const std::string& path) const override { return base_->describe(whole(path)); }

 private:
  std::string whole(const std::string& path) const {
    return path.empty() ? prefix_ : fmt::format("{}/{}", prefix_, path);
  }

  const std::shared_ptr<Storage> base_;
  const std::string prefix_;
};

}  // namespace

std::shared_ptr<Storage> create_prefix_storage(std::shared_ptr<Storage> base, std::string prefix) {
  return std::make_shared<PrefixStorage>(std::move(base), std::move(prefix));
}

}  // namespace trainwarden::storage
