#include "store/storage/faulty_storage.h"

#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace trainwarden::storage {
namespace {

// Counts the calls and decides which fail; shared by the storage and its files.
class FaultCounter {
 public:
  void set_plan(const FaultPlan& plan) {
    std::lock_guard guard(mutex_);
    plan_ = plan;
    calls_ = 0;
  }

  // Ok, or the fault of the plan when it is this call's turn.
  Status next(std::string_view call) {
    std::lock_guard guard(mutex_);
    const std::int64_t number = calls_++;
    const bool fails =
        plan_.fail_call >= 0 && (number == plan_.fail_call || (plan_.fail_all_after && number > plan_.fail_call));
    return fails ? Status(plan_.code, fmt::format("injected fault at call {} ({})", number, call)) : Status();
  }

  std::int64_t calls() const {
    std::lock_guard guard(mutex_);
    return calls_;
  }
  bool short_write() const {
    std::lock_guard guard(mutex_);
    return plan_.short_write;
  }

 private:
  mutable std::mutex mutex_;
  FaultPlan plan_;
  std::int64_t calls_ = 0;
};
using CounterPointer = std::shared_ptr<FaultCounter>;

// The parts that come first and hold half of the bytes.
std::vector<ByteSpan> first_half(std::span<const ByteSpan> parts) {
  std::size_t left = 0;
  for (const ByteSpan part : parts) left += part.size();
  left /= 2;
  std::vector<ByteSpan> half;
  for (const ByteSpan part : parts) {
    half.push_back(part.first(std::min(part.size(), left)));
    left -= half.back().size();
  }
  return half;
}

class FaultyWritableFile final : public WritableFile {
 public:
  FaultyWritableFile(std::unique_ptr<WritableFile> base, CounterPointer counter)
      : base_(std::move(base)), counter_(std::move(counter)) {}

  Status append(std::span<const ByteSpan> parts) override {
    if (failed_) return Status(Code::kFailedPrecondition, "an earlier append has failed");
    Status fault = counter_->next("append");
    failed_ = !fault.ok();
    if (!failed_) return base_->append(parts);
    if (counter_->short_write()) TRAINWARDEN_RETURN_IF_ERROR(base_->append(first_half(parts)));
    return fault;
  }

  Status sync() override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("sync"));
    return base_->sync();
  }

  Status close() override {
    const Status fault = counter_->next("close");
    const Status closed = base_->close();
    return fault.ok() ? closed : fault;
  }

  std::uint64_t bytes() const override { return base_->bytes(); }

 private:
  std::unique_ptr<WritableFile> base_;
  CounterPointer counter_;
  bool failed_ = false;
};

class FaultyReadableFile final : public ReadableFile {
 public:
  FaultyReadableFile(std::unique_ptr<ReadableFile> base, CounterPointer counter)
      : base_(std::move(base)), counter_(std::move(counter)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableByteSpan destination) const override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("read_at"));
    return base_->read_at(offset, destination);
  }
  Result<std::uint64_t> bytes() const override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("bytes"));
    return base_->bytes();
  }

 private:
  std::unique_ptr<ReadableFile> base_;
  CounterPointer counter_;
};

class FaultyStorageImpl final : public FaultyStorage {
 public:
  using FaultyStorage::FaultyStorage;

  void set_plan(const FaultPlan& plan) override { counter_->set_plan(plan); }
  std::int64_t calls() const override { return counter_->calls(); }

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("create"));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto file, base().create(path));
    return std::unique_ptr<WritableFile>(std::make_unique<FaultyWritableFile>(std::move(file), counter_));
  }
  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("open"));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto file, base().open(path));
    return std::unique_ptr<ReadableFile>(std::make_unique<FaultyReadableFile>(std::move(file), counter_));
  }
  Status put_if_absent(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("put_if_absent"));
    return base().put_if_absent(path, content);
  }
  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("read"));
    return base().read(path, limit_bytes);
  }
  Status create_folder(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("create_folder"));
    return base().create_folder(path);
  }
  Result<std::vector<std::string>> list(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("list"));
    return base().list(path);
  }
  Result<std::vector<Entry>> entries(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("entries"));
    return base().entries(path);
  }
  Result<FileInfo> info(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("info"));
    return base().info(path);
  }
  Status replace(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("replace"));
    return base().replace(path, content);
  }
  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(counter_->next("lock"));
    return base().lock(path);
  }

 private:
  CounterPointer counter_ = std::make_shared<FaultCounter>();
};

}  // namespace

std::unique_ptr<FaultyStorage> create_faulty_storage(Storage& base) {
  return std::make_unique<FaultyStorageImpl>(base);
}

}  // namespace trainwarden::storage
