#include "store/storage/unreachable_storage.h"

#include <utility>

namespace trainwarden::storage {
namespace {

class UnreachableStorage final : public Storage {
 public:
  explicit UnreachableStorage(Status why) : why_(std::move(why)) {}

  Result<std::unique_ptr<WritableFile>> create(const std::string&) override { return why_; }
  Result<std::unique_ptr<ReadableFile>> open(const std::string&) const override { return why_; }
  Status put_if_absent(const std::string&, ByteSpan) override { return why_; }
  Status replace(const std::string&, ByteSpan) override { return why_; }
  Result<std::string> read(const std::string&, std::uint64_t) const override { return why_; }
  Status create_folder(const std::string&) override { return why_; }
  Result<std::vector<std::string>> list(const std::string&) const override { return why_; }
  Result<std::vector<Entry>> entries(const std::string&) const override { return why_; }
  Result<FileInfo> info(const std::string&) const override { return why_; }
  bool exists(const std::string&) const override { return false; }
  Result<std::unique_ptr<Lock>> lock(const std::string&) override { return why_; }
  bool locked(const std::string&) const override { return false; }
  std::string describe(const std::string& path) const override { return path; }

 private:
  const Status why_;
};

}  // namespace

std::shared_ptr<Storage> create_unreachable_storage(Status why) {
  return std::make_shared<UnreachableStorage>(std::move(why));
}

}  // namespace trainwarden::storage
