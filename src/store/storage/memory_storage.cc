#include "store/storage/memory_storage.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <set>

#include <fmt/format.h>

#include "core/base/clock.h"
#include "store/storage/path_rules.h"

namespace trainwarden::storage {
namespace {

// What a file holds. It outlives its name, as on a disk, for whoever has it open.
struct MemoryFile {
  explicit MemoryFile(const Clock& clock_of_times) : clock(clock_of_times) {}
  void change() { changed_unix_ns = clock.unix_ns(); }

  const Clock& clock;
  mutable std::mutex mutex;
  std::string content;
  std::size_t synced_bytes = 0;
  bool name_synced = false;
  std::uint64_t identity = 0;
  std::int64_t changed_unix_ns = clock.unix_ns();
};
using FilePointer = std::shared_ptr<MemoryFile>;

class MemoryWritableFile final : public WritableFile {
 public:
  explicit MemoryWritableFile(FilePointer file) : file_(std::move(file)) {}

  Status append(std::span<const ByteSpan> parts) override {
    if (closed_) return closed_error();
    std::lock_guard guard(file_->mutex);
    for (const ByteSpan part : parts) {
      file_->content += as_text(part);
      bytes_ += part.size();
    }
    file_->change();
    return Status();
  }

  Status sync() override {
    if (closed_) return closed_error();
    std::lock_guard guard(file_->mutex);
    file_->synced_bytes = file_->content.size();
    file_->name_synced = true;
    return Status();
  }

  Status close() override {
    closed_ = true;
    return Status();
  }

  std::uint64_t bytes() const override { return bytes_; }

 private:
  static Status closed_error() { return Status(Code::kFailedPrecondition, "the file is closed"); }

  FilePointer file_;
  std::uint64_t bytes_ = 0;
  bool closed_ = false;
};

class MemoryReadableFile final : public ReadableFile {
 public:
  explicit MemoryReadableFile(FilePointer file) : file_(std::move(file)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableByteSpan destination) const override {
    std::lock_guard guard(file_->mutex);
    const std::size_t there = file_->content.size();
    if (offset >= there || destination.empty()) return std::size_t{0};
    const std::size_t bytes = std::min<std::size_t>(destination.size(), there - offset);
    std::memcpy(destination.data(), file_->content.data() + offset, bytes);
    return bytes;
  }

  Result<std::uint64_t> bytes() const override {
    std::lock_guard guard(file_->mutex);
    return std::uint64_t{file_->content.size()};
  }

 private:
  FilePointer file_;
};

// The locked paths, shared with the locks so that these may outlive the storage.
struct LockTable {
  std::mutex mutex;
  std::set<std::string> paths;
};

class MemoryLock final : public Lock {
 public:
  MemoryLock(std::shared_ptr<LockTable> table, std::string path) : table_(std::move(table)), path_(std::move(path)) {}
  ~MemoryLock() override {
    std::lock_guard guard(table_->mutex);
    table_->paths.erase(path_);
  }

 private:
  std::shared_ptr<LockTable> table_;
  std::string path_;
};

class MemoryStorageImpl final : public MemoryStorage {
 public:
  explicit MemoryStorageImpl(const Clock& clock) : clock_(clock) {}

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(FilePointer file, insert(path, ""));
    return std::unique_ptr<WritableFile>(std::make_unique<MemoryWritableFile>(std::move(file)));
  }

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override {
    TRAINWARDEN_ASSIGN_OR_RETURN(FilePointer file, find(path));
    return std::unique_ptr<ReadableFile>(std::make_unique<MemoryReadableFile>(std::move(file)));
  }

  Status put_if_absent(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const FilePointer file, insert(path, as_text(content)));
    return MemoryWritableFile(file).sync();
  }

  Status replace(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    std::lock_guard guard(mutex_);
    if (!folders_.contains(parent_path(path))) return error(Code::kNotFound, "replace", path);
    if (folders_.contains(path)) return error(Code::kAlreadyExists, "replace", path);
    files_[path] = create_file(as_text(content));
    return Status();
  }

  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override;
  Status create_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) const override;
  Result<std::vector<Entry>> entries(const std::string& path) const override;
  Result<FileInfo> info(const std::string& path) const override;
  bool exists(const std::string& path) const override;
  Result<std::unique_ptr<Lock>> lock(const std::string& path) override;
  bool locked(const std::string& path) const override;
  std::string describe(const std::string& path) const override { return "memory:/" + path; }

  std::string content(const std::string& path) const override;
  void set_content(const std::string& path, std::string content) override;
  void drop_unsynced() override;

 private:
  Status error(Code code, std::string_view action, const std::string& path) const {
    return Status(code, fmt::format("cannot {} {}: {}", action, describe(path), name(code)));
  }
  Result<FilePointer> insert(const std::string& path, std::string_view content);
  Result<FilePointer> find(const std::string& path) const;
  FilePointer create_file(std::string_view content);

  const Clock& clock_;
  mutable std::mutex mutex_;
  std::map<std::string, FilePointer> files_;
  std::set<std::string, std::less<>> folders_{""};
  std::uint64_t created_files_ = 0;
  std::shared_ptr<LockTable> locks_ = std::make_shared<LockTable>();
};

Result<FilePointer> MemoryStorageImpl::insert(const std::string& path, std::string_view content) {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
  std::lock_guard guard(mutex_);
  if (!folders_.contains(parent_path(path))) return error(Code::kNotFound, "create", path);
  if (files_.contains(path) || folders_.contains(path)) return error(Code::kAlreadyExists, "create", path);
  FilePointer file = create_file(content);
  files_.emplace(path, file);
  return file;
}

FilePointer MemoryStorageImpl::create_file(std::string_view content) {
  auto file = std::make_shared<MemoryFile>(clock_);
  file->content = content;
  file->identity = ++created_files_;
  return file;
}

Result<FilePointer> MemoryStorageImpl::find(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
  std::lock_guard guard(mutex_);
  const auto found = files_.find(path);
  return found == files_.end() ? Result<FilePointer>(error(Code::kNotFound, "open", path)) : found->second;
}

Result<std::string> MemoryStorageImpl::read(const std::string& path, std::uint64_t limit_bytes) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const FilePointer file, find(path));
  std::lock_guard guard(file->mutex);
  if (file->content.size() > limit_bytes) return error(Code::kOutOfRange, "read", path);
  return file->content;
}

Status MemoryStorageImpl::create_folder(const std::string& path) {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  std::lock_guard guard(mutex_);
  for (std::string_view folder = path; !folder.empty(); folder = parent_path(folder)) {
    if (files_.contains(std::string(folder))) return error(Code::kNotFound, "create folder", path);
  }
  for (std::string_view folder = path; !folder.empty(); folder = parent_path(folder)) folders_.emplace(folder);
  return Status();
}

Result<std::vector<std::string>> MemoryStorageImpl::list(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  std::lock_guard guard(mutex_);
  if (!folders_.contains(path)) return error(Code::kNotFound, "list", path);
  std::set<std::string> names;
  const auto take = [&](const std::string& entry) {
    if (!entry.empty() && parent_path(entry) == path) names.insert(entry.substr(path.empty() ? 0 : path.size() + 1));
  };
  for (const auto& [file, content] : files_) take(file);
  for (const std::string& folder : folders_) take(folder);
  return std::vector<std::string>(names.begin(), names.end());
}

Result<FileInfo> MemoryStorageImpl::info(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  std::lock_guard guard(mutex_);
  if (folders_.contains(path)) return FileInfo{.kind = FileInfo::Kind::kFolder};
  const auto found = files_.find(path);
  if (found == files_.end()) return error(Code::kNotFound, "look at", path);
  const MemoryFile& file = *found->second;
  std::lock_guard file_guard(file.mutex);
  return FileInfo{.bytes = file.content.size(), .changed_unix_ns = file.changed_unix_ns, .identity = file.identity};
}

Result<std::vector<Entry>> MemoryStorageImpl::entries(const std::string& path) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, list(path));
  std::vector<Entry> entries;
  for (const std::string& name : names) {
    const auto about = info(path.empty() ? name : path + "/" + name);
    if (about.ok()) entries.push_back({name, *about});
  }
  return entries;
}

bool MemoryStorageImpl::exists(const std::string& path) const {
  std::lock_guard guard(mutex_);
  return files_.contains(path) || folders_.contains(path);
}

Result<std::unique_ptr<Lock>> MemoryStorageImpl::lock(const std::string& path) {
  const std::string holder = fmt::format("{}\n", ::getpid());
  const Result<FilePointer> file = insert(path, holder);
  if (!file.ok() && file.status().code() != Code::kAlreadyExists) return file.status();
  std::lock_guard guard(locks_->mutex);
  if (locks_->paths.insert(path).second) return std::unique_ptr<Lock>(std::make_unique<MemoryLock>(locks_, path));
  return Status(Code::kAlreadyExists, fmt::format("{} is locked by process {}", describe(path), ::getpid()));
}

bool MemoryStorageImpl::locked(const std::string& path) const {
  std::lock_guard guard(locks_->mutex);
  return locks_->paths.contains(path);
}

std::string MemoryStorageImpl::content(const std::string& path) const {
  return read(path, std::string::npos).value_or("");
}

void MemoryStorageImpl::set_content(const std::string& path, std::string content) {
  std::lock_guard guard(mutex_);
  for (std::string_view folder = parent_path(path); !folder.empty(); folder = parent_path(folder)) {
    folders_.emplace(folder);
  }
  FilePointer& file = files_[path];
  if (!file) file = create_file("");
  std::lock_guard file_guard(file->mutex);
  file->synced_bytes = content.size();
  file->name_synced = true;
  file->change();
  file->content = std::move(content);
}

void MemoryStorageImpl::drop_unsynced() {
  std::lock_guard guard(mutex_);
  std::erase_if(files_, [](const auto& entry) {
    std::lock_guard file_guard(entry.second->mutex);
    entry.second->content.resize(entry.second->synced_bytes);
    return !entry.second->name_synced;
  });
}

}  // namespace

std::unique_ptr<MemoryStorage> create_memory_storage(const Clock& clock) {
  return std::make_unique<MemoryStorageImpl>(clock);
}

}  // namespace trainwarden::storage
