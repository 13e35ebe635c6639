#include "store/s3/s3_files.h"

#include <algorithm>
#include <cstring>
#include <mutex>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/s3/fork_aware_mutex.h"

namespace trainwarden::storage {
namespace {

constexpr int kMaxPiecePages = 1'000;

class S3WritableFile final : public WritableFile {
 public:
  S3WritableFile(std::shared_ptr<S3Client> client, std::string key, std::function<void()> on_append)
      : client_(std::move(client)), key_(std::move(key)), on_append_(std::move(on_append)) {}

  Status append(std::span<const ByteSpan> parts) override {
    if (closed_ || failed_) return closed_error();
    std::string piece;
    for (const ByteSpan part : parts) piece += as_text(part);
    if (piece.empty()) return {};
    const Status status = client_->put(piece_name(key_, next_), as_bytes(piece), PutCondition::kAlways);
    on_append_();
    failed_ = !status.ok();
    if (!status.ok()) return status;
    ++next_;
    bytes_ += piece.size();
    return {};
  }
  Status sync() override { return closed_ ? closed_error() : Status(); }
  Status close() override {
    closed_ = true;
    return {};
  }
  std::uint64_t bytes() const override { return bytes_; }

 private:
  static Status closed_error() {
    return Status(Code::kFailedPrecondition, "the file is closed, or an append has failed");
  }

  const std::shared_ptr<S3Client> client_;
  const std::string key_;
  const std::function<void()> on_append_;
  std::uint64_t next_ = 1;  // number of the next piece
  std::uint64_t bytes_ = 0;
  bool closed_ = false;
  bool failed_ = false;  // an append has; what was appended before is in the bucket
};

class S3ReadableFile final : public ReadableFile {
 public:
  S3ReadableFile(S3Reach reach, std::string key, std::vector<FilePart> parts)
      : reach_(std::move(reach)), key_(std::move(key)), parts_(std::move(parts)) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableByteSpan destination) const override {
    auto read = read_parts(offset, destination);
    const bool is_moved =
        !read.ok() && (read.status().code() == Code::kNotFound || read.status().code() == Code::kAborted);
    if (!is_moved) return read;
    TRAINWARDEN_RETURN_IF_ERROR(find_anew());
    return read_parts(offset, destination);
  }

  Result<std::uint64_t> bytes() const override {
    std::vector<FilePart> parts = this->parts();
    if (is_whole(parts)) return bytes_of(parts);
    const Status found = find_more_parts(*reach_.client, key_, parts);
    if (found.code() == Code::kAborted) {
      TRAINWARDEN_RETURN_IF_ERROR(find_anew());
      return bytes_of(this->parts());
    }
    TRAINWARDEN_RETURN_IF_ERROR(found);
    const std::lock_guard guard(mutex_);
    parts_ = parts;
    return bytes_of(parts);
  }

 private:
  // Its pieces became one object: the bytes are the same, elsewhere. Or it was replaced.
  Status find_anew() const {
    if (reach_.on_stale) reach_.on_stale();
    TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<FilePart> found, find_parts(*reach_.client, key_));
    const std::lock_guard guard(mutex_);
    parts_ = std::move(found);
    return {};
  }
  std::vector<FilePart> parts() const {
    const std::lock_guard guard(mutex_);
    return parts_;
  }
  bool is_whole(const std::vector<FilePart>& parts) const { return parts.size() == 1 && parts[0].key == key_; }

  Result<std::size_t> read_parts(std::uint64_t offset, MutableByteSpan destination) const {
    std::vector<FilePart> parts = this->parts();
    if (!is_whole(parts) && offset + destination.size() > bytes_of(parts)) {
      TRAINWARDEN_RETURN_IF_ERROR(find_more_parts(*reach_.client, key_, parts));
      const std::lock_guard guard(mutex_);
      parts_ = parts;
    }
    std::size_t taken = 0;
    for (const FilePart& part : parts) {
      const std::uint64_t at = offset + taken;
      if (taken == destination.size() || at >= part.offset + part.info.bytes) continue;
      const std::size_t wanted =
          std::min<std::uint64_t>(destination.size() - taken, part.offset + part.info.bytes - at);
      TRAINWARDEN_RETURN_IF_ERROR(read_part(part, at - part.offset, destination.subspan(taken, wanted)));
      taken += wanted;
    }
    return taken;
  }

  // All of `destination`. What is large goes past the cache.
  Status read_part(const FilePart& part, std::uint64_t offset, MutableByteSpan destination) const {
    if (destination.size() >= kBlockBytes) return fetch(part, offset, destination);
    while (!destination.empty()) {
      const std::uint64_t number = offset / kBlockBytes;
      TRAINWARDEN_ASSIGN_OR_RETURN(const BlockCache::Block block, block_of(part, number));
      const std::size_t begin = offset - number * kBlockBytes;
      const std::size_t count = std::min(destination.size(), block->size() - begin);
      std::memcpy(destination.data(), block->data() + begin, count);
      destination = destination.subspan(count);
      offset += count;
    }
    return {};
  }

  Result<BlockCache::Block> block_of(const FilePart& part, std::uint64_t number) const {
    const BlockCache::Place place(fmt::format("{} {}", part.key, part.info.etag), number);
    if (auto block = reach_.cache->find(place)) return block;
    const std::uint64_t begin = number * kBlockBytes;
    std::string bytes(std::min<std::uint64_t>(kBlockBytes, part.info.bytes - begin), '\0');
    TRAINWARDEN_RETURN_IF_ERROR(fetch(part, begin, std::as_writable_bytes(std::span(bytes))));
    auto block = std::make_shared<const std::string>(std::move(bytes));
    reach_.cache->keep(place, block);
    return block;
  }

  Status fetch(const FilePart& part, std::uint64_t offset, MutableByteSpan destination) const {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count,
                                 reach_.client->get(part.key, offset, destination, part.info.etag));
    if (count == destination.size()) return {};
    return Status(Code::kUnavailable,
                  fmt::format("{}: expected {} bytes at {}, got {}", reach_.client->address_of(part.key),
                              destination.size(), offset, count));
  }

  const S3Reach reach_;
  const std::string key_;
  mutable ForkAwareMutex mutex_;
  mutable std::vector<FilePart> parts_;
};

}  // namespace

Status find_more_parts(S3Client& client, const std::string& key, std::vector<FilePart>& parts) {
  // From the last one that is known on: where that is gone, the file is one object by now, and no piece ever follows.
  const std::string last = parts.empty() ? "" : parts.back().key;
  const std::string after = parts.size() < 2 ? "" : parts[parts.size() - 2].key;
  bool is_last_there = parts.empty();
  std::string token;
  for (int page_number = 0; page_number < kMaxPiecePages; ++page_number) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ObjectPage page,
                                 client.list(key + std::string(kPieceMark), "", token.empty() ? after : "", token));
    add_pieces(parts, page.objects);
    for (const ListedObject& object : page.objects) is_last_there = is_last_there || object.key == last;
    if (!is_last_there) {
      return Status(Code::kAborted, fmt::format("{} is in no pieces any more", client.address_of(key)));
    }
    if (page.next.empty()) return {};
    token = page.next;
  }
  return Status(Code::kResourceExhausted, fmt::format("{} has too many pieces", client.address_of(key)));
}

Result<std::vector<FilePart>> find_parts(S3Client& client, const std::string& key) {
  const auto whole = client.head(key);
  if (whole.ok()) return std::vector<FilePart>{{key, 0, *whole}};
  if (whole.status().code() != Code::kNotFound) return whole.status();
  std::vector<FilePart> parts;
  TRAINWARDEN_RETURN_IF_ERROR(find_more_parts(client, key, parts));
  if (parts.empty()) return whole.status();
  return parts;
}

std::unique_ptr<ReadableFile> open_s3_file(S3Reach reach, std::string key, std::vector<FilePart> parts) {
  return std::make_unique<S3ReadableFile>(std::move(reach), std::move(key), std::move(parts));
}

std::unique_ptr<WritableFile> append_to_s3_file(std::shared_ptr<S3Client> client, std::string key,
                                                std::function<void()> on_append) {
  return std::make_unique<S3WritableFile>(std::move(client), std::move(key), std::move(on_append));
}

}  // namespace trainwarden::storage
