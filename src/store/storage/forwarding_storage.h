// ForwardingStorage: another storage, for classes that change some of its calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "store/storage/storage.h"

namespace trainwarden::storage {

class ForwardingStorage : public Storage {
 public:
  // `base` must outlive it.
  explicit ForwardingStorage(Storage& base) : base_(base) {}

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override { return base_.create(path); }
  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override { return base_.open(path); }
  Status put_if_absent(const std::string& path, ByteSpan content) override {
    return base_.put_if_absent(path, content);
  }
  Status replace(const std::string& path, ByteSpan content) override { return base_.replace(path, content); }
  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes = kReadLimit) const override {
    return base_.read(path, limit_bytes);
  }
  Status create_folder(const std::string& path) override { return base_.create_folder(path); }
  Result<std::vector<std::string>> list(const std::string& path) const override { return base_.list(path); }
  Result<std::vector<Entry>> entries(const std::string& path) const override { return base_.entries(path); }
  Result<FileInfo> info(const std::string& path) const override { return base_.info(path); }
  bool exists(const std::string& path) const override { return base_.exists(path); }
  Result<std::unique_ptr<Lock>> lock(const std::string& path) override { return base_.lock(path); }
  bool locked(const std::string& path) const override { return base_.locked(path); }
  bool has_locks() const override { return base_.has_locks(); }
  std::optional<std::int64_t> lock_holder(const std::string& path) const override { return base_.lock_holder(path); }
  std::string describe(const std::string& path) const override { return base_.describe(path); }

 protected:
  Storage& base() const { return base_; }

 private:
  Storage& base_;
};

}  // namespace trainwarden::storage
