#include "store/copy/local_end.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/exchange/digest.h"
#include "store/copy/copy_limits.h"
#include "store/storage/local_place.h"
#include "store/storage/local_storage.h"
#include "store/storage/partial_file.h"

namespace trainwarden::copy {
namespace {

using storage::Entry;
using storage::FileInfo;

constexpr std::uint64_t kLocalChunkBytes = std::uint64_t{8} << 20;
constexpr int kMaxFolderDepth = 64;
constexpr std::size_t kKeyDigits = 16;

class LocalReader final : public FileReader {
 public:
  LocalReader(std::unique_ptr<storage::ReadableFile> file, std::string described)
      : file_(std::move(file)), described_(std::move(described)) {}
  Status read(std::uint64_t offset, MutableByteSpan destination) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count, file_->read_at(offset, destination));
    if (count == destination.size()) return {};
    return Status(Code::kAborted, fmt::format("{} became shorter while it was read", described_));
  }

 private:
  std::unique_ptr<storage::ReadableFile> file_;
  std::string described_;
};

// Chunks that follow one another are written in their order, so that what is there is always the beginning of the file:
// whoever goes on needs no list of what has arrived.
class LocalReceiver final : public FileReceiver, public FileReader {
 public:
  LocalReceiver(std::unique_ptr<storage::PartialFile> file, const CopyFile& source)
      : file_(std::move(file)), changed_unix_ns_(source.changed_unix_ns) {}

  ~LocalReceiver() override {
    if (!is_finished_ && file_->bytes() == 0) file_->discard();  // nothing to go on with
  }

  static Result<std::unique_ptr<FileReceiver>> open(std::unique_ptr<storage::PartialFile> file,
                                                    const CopyFile& source) {
    const std::uint64_t there = std::min(file->bytes(), source.bytes);
    const std::uint64_t whole = there == source.bytes ? there : there / kLocalChunkBytes * kLocalChunkBytes;
    TRAINWARDEN_RETURN_IF_ERROR(file->cut(whole));
    auto receiver = std::make_unique<LocalReceiver>(std::move(file), source);
    receiver->next_ = (whole + kLocalChunkBytes - 1) / kLocalChunkBytes;
    receiver->first_ = receiver->next_;
    return std::unique_ptr<FileReceiver>(std::move(receiver));
  }

  std::uint64_t chunk_bytes() const override { return kLocalChunkBytes; }
  std::uint64_t first_chunk() const override { return first_; }

  Result<Arrival> put(std::uint64_t chunk, ByteSpan content) override {
    std::unique_lock lock(mutex_);
    turn_.wait(lock, [&] { return chunk >= end_ || next_ == chunk; });
    if (chunk >= end_) return Status(Code::kCancelled, "a part of the file before this one could not be copied");
    const Status status = file_->append(content);
    ++next_;
    if (!status.ok()) end_ = chunk;
    turn_.notify_all();
    if (!status.ok()) return status;
    return Arrival::kSent;
  }

  void fail(std::uint64_t chunk) override {
    const std::lock_guard guard(mutex_);
    end_ = std::min(end_, chunk);
    turn_.notify_all();
  }

  FileReader* arrived() override { return this; }
  Status read(std::uint64_t offset, MutableByteSpan destination) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count, file_->read_at(offset, destination));
    return count == destination.size() ? Status() : Status(Code::kDataLoss, "what has arrived became shorter");
  }
  Status finish() override {
    TRAINWARDEN_RETURN_IF_ERROR(file_->finish(changed_unix_ns_));
    is_finished_ = true;
    return {};
  }
  void discard() override { file_->discard(); }

 private:
  const std::unique_ptr<storage::PartialFile> file_;
  const std::int64_t changed_unix_ns_;
  std::uint64_t first_ = 0;
  std::mutex mutex_;
  std::condition_variable turn_;
  std::uint64_t next_ = 0;                                         // the chunk that may be written
  std::uint64_t end_ = std::numeric_limits<std::uint64_t>::max();  // the first one that does not come
  bool is_finished_ = false;
};

// Which content a file is to get, so that what has arrived of another one is not gone on with.
Result<std::string> key_of_content(const CopyFile& file, const std::string& source, const std::string& path) {
  std::string text = fmt::format("{}\n{}\n{}\n{}\n", source, path, file.bytes, file.changed_unix_ns);
  for (const storage::FilePart& part : file.parts) text += fmt::format("{} {}\n", part.info.bytes, part.info.etag);
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string digest, exchange::sha256_hex(text));
  return digest.substr(0, kKeyDigits);
}

class LocalEnd final : public CopyEnd {
 public:
  LocalEnd(std::filesystem::path root, std::string only)
      : root_(std::move(root)), only_(std::move(only)), beneath_(root_), storage_(storage::open_local_storage(root_)) {}

  Result<CopyListing> list() override {
    CopyListing listing;
    if (!only_.empty()) {
      TRAINWARDEN_ASSIGN_OR_RETURN(CopyFile file, look({}));
      listing.files.push_back(std::move(file));
      TRAINWARDEN_RETURN_IF_ERROR(find_leftovers(listing));
      return listing;
    }
    TRAINWARDEN_RETURN_IF_ERROR(find_files("", 0, listing));
    std::sort(listing.files.begin(), listing.files.end(),
              [](const CopyFile& a, const CopyFile& b) { return a.path < b.path; });
    return listing;
  }

  Result<CopyFile> look(const CopyFile& file) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const FileInfo info, storage_->info(own(file.path)));
    if (info.kind == FileInfo::Kind::kFile) return file_of(file.path, info);
    return Status(Code::kNotFound, fmt::format("{} is no file", describe(file.path)));
  }

  Result<std::unique_ptr<FileReader>> open(const CopyFile& file) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto opened, storage_->open(own(file.path)));
    return std::unique_ptr<FileReader>(std::make_unique<LocalReader>(std::move(opened), describe(file.path)));
  }

  Result<std::unique_ptr<FileReceiver>> receive(const CopyFile& file, const std::string& source,
                                                const CopyFile*) override {
    const std::string path = own(file.path);
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string key, key_of_content(file, source, path));
    TRAINWARDEN_ASSIGN_OR_RETURN(auto partial, storage::PartialFile::open(beneath_, path, key));
    return LocalReceiver::open(std::move(partial), file);
  }

  Status remove(const CopyFile& file) override {
    const std::string path = own(file.path);
    TRAINWARDEN_RETURN_IF_ERROR(storage::remove_local_file(beneath_, path));
    const std::size_t slash = path.rfind('/');
    if (slash != std::string::npos) storage::remove_empty_folders(beneath_, path.substr(0, slash));
    return {};
  }
  Result<bool> remove_leftover(const std::string& path) override {
    return storage::remove_partial_file(beneath_, path);
  }

  bool keeps_times() const override { return true; }
  std::optional<std::uint64_t> room() override { return storage::free_bytes_at(root_); }
  std::string describe(const std::string& path) const override { return beneath_.describe(own(path)); }

 private:
  std::string own(const std::string& path) const { return path.empty() ? only_ : path; }
  static CopyFile file_of(const std::string& path, const FileInfo& info) {
    return {.path = path,
            .bytes = info.bytes,
            .changed_unix_ns = info.changed_unix_ns,
            .identity = info.identity,
            .parts = {}};
  }

  Status find_leftovers(CopyListing& listing) const {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<std::string> names, storage_->list(""));
    for (const std::string& name : names) {
      const bool is_ours = storage::is_partial_name(name) && name.starts_with(storage::partial_beginning(only_));
      if (is_ours) listing.leftovers.push_back(name);
    }
    return {};
  }

  Status find_files(const std::string& folder, int depth, CopyListing& listing) const {
    auto entries = storage_->entries(folder);
    if (!entries.ok()) {
      if (depth == 0) return entries.status();
      listing.left_out.push_back({folder, entries.status().message()});
      return {};
    }
    for (const Entry& entry : *entries) {
      const std::string path = folder.empty() ? entry.name : fmt::format("{}/{}", folder, entry.name);
      TRAINWARDEN_RETURN_IF_ERROR(take_entry(path, entry, depth, listing));
    }
    return {};
  }

  Status take_entry(const std::string& path, const Entry& entry, int depth, CopyListing& listing) const {
    switch (entry.info.kind) {
      case FileInfo::Kind::kLink: listing.links.push_back(path); return {};
      case FileInfo::Kind::kOther:
        listing.left_out.push_back({path, "it is no file: a pipe, a socket or a device"});
        return {};
      case FileInfo::Kind::kFolder:
        if (depth < kMaxFolderDepth) return find_files(path, depth + 1, listing);
        listing.left_out.push_back({path, fmt::format("it lies deeper than {} folders", kMaxFolderDepth)});
        return {};
      case FileInfo::Kind::kFile: break;
    }
    if (storage::is_partial_name(entry.name)) {
      listing.leftovers.push_back(path);
    } else {
      listing.files.push_back(file_of(path, entry.info));
    }
    return check_file_count(listing, root_.string());
  }

  const std::filesystem::path root_;
  const std::string only_;  // the name of the file that is the end; empty: the folder is
  const storage::Beneath beneath_;
  const std::unique_ptr<storage::Storage> storage_;
};

}  // namespace

std::shared_ptr<CopyEnd> create_local_end(const std::filesystem::path& path, EndKind kind) {
  if (kind == EndKind::kFolder) return std::make_shared<LocalEnd>(path, "");
  return std::make_shared<LocalEnd>(path.parent_path(), path.filename().string());
}

}  // namespace trainwarden::copy
