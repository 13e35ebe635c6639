#include "store/copy/bucket_end.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/copy/bucket_upload.h"
#include "store/copy/copy_limits.h"
#include "store/s3/content_tag.h"
#include "store/s3/s3_files.h"
#include "store/storage/path_rules.h"

namespace trainwarden::copy {
namespace {

using storage::FilePart;
using storage::ListedObject;
using storage::ObjectPage;
using storage::S3Client;

constexpr int kMaxBucketPages = 10'000;
constexpr std::uint64_t kMaxDirectBytes = std::uint64_t{5} << 30;  // of one call of the server's own

class BucketReader final : public FileReader {
 public:
  BucketReader(std::shared_ptr<S3Client> client, std::vector<FilePart> parts)
      : client_(std::move(client)), parts_(std::move(parts)) {}

  Status read(std::uint64_t offset, MutableByteSpan destination) override {
    for (const FilePart& part : parts_) {
      const std::uint64_t end = part.offset + part.info.bytes;
      if (destination.empty() || offset >= end || offset < part.offset) continue;
      const std::size_t wanted = std::min<std::uint64_t>(destination.size(), end - offset);
      const auto count = client_->get(part.key, offset - part.offset, destination.subspan(0, wanted), part.info.etag);
      if (!count.ok()) return count.status();
      if (*count != wanted) {
        return Status(Code::kAborted, fmt::format("{}: expected {} bytes at {}, got {}", client_->address_of(part.key),
                                                  wanted, offset - part.offset, *count));
      }
      offset += wanted;
      destination = destination.subspan(wanted);
    }
    return destination.empty() ? Status() : Status(Code::kAborted, "the file became shorter while it was read");
  }

 private:
  const std::shared_ptr<S3Client> client_;
  const std::vector<FilePart> parts_;
};

// Objects as files: pieces are put together, and stand back behind the whole file.
class ObjectFolder {
 public:
  explicit ObjectFolder(std::string beginning) : beginning_(std::move(beginning)) {}

  void take(const ListedObject& object, CopyListing& listing) {
    if (!object.key.starts_with(beginning_)) return;
    const std::string path = object.key.substr(beginning_.size());
    if (path.empty() || path.back() == '/') {
      // What other tools make for a folder. Its content, if it has one, has no name that a file could have.
      if (object.info.bytes > 0) listing.left_out.push_back({path, "an object whose name ends with / is no file"});
      return;
    }
    if (const Status status = storage::check_file_path(path); !status.ok()) {
      listing.left_out.push_back({path, status.message()});
      return;
    }
    if (const auto piece = storage::parse_piece_name(path)) {
      storage::add_pieces(pieces_[std::string(piece->file)], {object});
    } else {
      listing.files.push_back(file_of(path, {{object.key, 0, object.info}}));
    }
  }

  void finish(CopyListing& listing) {
    std::set<std::string> whole;
    for (const CopyFile& file : listing.files) {
      if (pieces_.contains(file.path)) whole.insert(file.path);
    }
    for (auto& [path, parts] : pieces_) {
      if (!parts.empty() && !whole.contains(path)) listing.files.push_back(file_of(path, std::move(parts)));
    }
    std::sort(listing.files.begin(), listing.files.end(),
              [](const CopyFile& a, const CopyFile& b) { return a.path < b.path; });
  }

  static CopyFile file_of(const std::string& path, std::vector<FilePart> parts) {
    CopyFile file{.path = path, .bytes = storage::bytes_of(parts), .parts = std::move(parts)};
    for (const FilePart& part : file.parts) {
      file.changed_unix_ns = std::max(file.changed_unix_ns, part.info.changed_unix_ns);
    }
    return file;
  }

 private:
  const std::string beginning_;
  std::map<std::string, std::vector<FilePart>> pieces_;  // by the file's path
};

class BucketEnd final : public CopyEnd {
 public:
  BucketEnd(std::shared_ptr<S3Client> client, std::string prefix, EndKind kind)
      : client_(std::move(client)), prefix_(std::move(prefix)), kind_(kind) {}

  Result<CopyListing> list() override {
    CopyListing listing;
    if (kind_ == EndKind::kFile) {
      TRAINWARDEN_ASSIGN_OR_RETURN(CopyFile file, look({}));
      listing.files.push_back(std::move(file));
      return listing;
    }
    const std::string beginning = key_of("");
    ObjectFolder folder(beginning);
    bool is_there = false;
    std::string token;
    for (int number = 0; number < kMaxBucketPages; ++number) {
      TRAINWARDEN_ASSIGN_OR_RETURN(const ObjectPage page, client_->list(beginning, "", "", token));
      for (const ListedObject& object : page.objects) folder.take(object, listing);
      is_there = is_there || !page.objects.empty();
      TRAINWARDEN_RETURN_IF_ERROR(check_file_count(listing, describe("")));
      token = page.next;
      if (!token.empty()) continue;
      folder.finish(listing);
      if (!is_there) return Status(Code::kNotFound, fmt::format("nothing is at {}", describe("")));
      return listing;
    }
    return Status(Code::kResourceExhausted, fmt::format("{} has too many objects", describe("")));
  }

  Result<CopyFile> look(const CopyFile& file) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(auto parts, storage::find_parts(*client_, key_of(file.path)));
    return ObjectFolder::file_of(file.path, std::move(parts));
  }

  Result<std::unique_ptr<FileReader>> open(const CopyFile& file) override {
    return std::unique_ptr<FileReader>(std::make_unique<BucketReader>(client_, file.parts));
  }

  Result<std::unique_ptr<FileReceiver>> receive(const CopyFile& file, const std::string&,
                                                const CopyFile* before) override {
    return begin_bucket_upload(client_, key_of(file.path), file.bytes, before);
  }

  Status take_directly(const CopyFile& file, CopyEnd& from) override {
    auto* const other = dynamic_cast<BucketEnd*>(&from);
    const bool is_possible = other != nullptr && !file.is_pieces() && file.bytes <= kMaxDirectBytes &&
                             other->client_->settings().endpoint == client_->settings().endpoint &&
                             other->client_->settings().scheme == client_->settings().scheme;
    if (!is_possible) return Status(Code::kUnimplemented, "not within one server");
    return client_->copy_from(other->client_->bucket(), file.parts.front().key, file.parts.front().info.etag,
                              key_of(file.path));
  }

  Status remove(const CopyFile& file) override {
    for (const FilePart& part : file.parts) TRAINWARDEN_RETURN_IF_ERROR(client_->remove(part.key));
    return {};
  }
  Result<bool> remove_leftover(const std::string&) override { return false; }

  Result<std::uint64_t> end_unfinished(const std::vector<CopyFile>& files, bool is_all) override {
    const auto uploads = client_->unfinished_uploads(kind_ == EndKind::kFile ? prefix_ : key_of(""));
    if (!uploads.ok()) return uploads.status();
    std::set<std::string> keys;
    for (const CopyFile& file : files) keys.insert(key_of(file.path));
    std::uint64_t ended = 0;
    for (const storage::UnfinishedUpload& upload : *uploads) {
      if (!keys.contains(upload.key) && !(is_all && kind_ == EndKind::kFolder)) continue;
      TRAINWARDEN_RETURN_IF_ERROR(client_->give_up_upload(upload.key, upload.id));
      ++ended;
    }
    return ended;
  }

  Result<std::vector<TaggedRange>> tags(const CopyFile& file) override {
    std::vector<TaggedRange> ranges;
    for (const FilePart& part : file.parts) {
      const auto tag = storage::parse_content_tag(part.info.etag);
      if (!tag || part.info.has_opaque_etag) return std::vector<TaggedRange>();
      TaggedRange range{.offset = part.offset, .bytes = part.info.bytes, .etag = part.info.etag};
      if (tag->parts > 0) {
        const auto bytes = client_->part_bytes(part.key, part.info.etag);
        range.part_bytes = bytes.value_or(0);
        const auto parts = static_cast<std::uint64_t>(tag->parts);
        const auto holds = [&](std::uint64_t size) { return size > 0 && (range.bytes + size - 1) / size == parts; };
        range.is_guess = !holds(range.part_bytes);
        if (range.is_guess) range.part_bytes = storage::part_bytes_for(range.bytes);
        if (!holds(range.part_bytes)) return std::vector<TaggedRange>();
      }
      ranges.push_back(std::move(range));
    }
    return ranges;
  }

  std::int64_t ahead_ns() const override { return client_->server_ahead_ns(); }
  bool keeps_times() const override { return false; }
  std::string describe(const std::string& path) const override {
    return client_->address_of(path.empty() ? prefix_ : key_of(path));
  }

 private:
  std::string key_of(const std::string& path) const {
    if (kind_ == EndKind::kFile) return prefix_;
    return prefix_.empty() ? path : fmt::format("{}/{}", prefix_, path);
  }

  const std::shared_ptr<S3Client> client_;
  const std::string prefix_;
  const EndKind kind_;
};

}  // namespace

bool CopyFile::is_pieces() const {
  return !parts.empty() && storage::parse_piece_name(parts.front().key).has_value();
}

std::shared_ptr<CopyEnd> create_bucket_end(std::shared_ptr<S3Client> client, std::string prefix, EndKind kind) {
  return std::make_shared<BucketEnd>(std::move(client), std::move(prefix), kind);
}

Result<bool> is_file_in_bucket(S3Client& client, const std::string& key) {
  const auto parts = storage::find_parts(client, key);
  if (parts.ok()) return true;
  return parts.status().code() == Code::kNotFound ? Result<bool>(false) : parts.status();
}

}  // namespace trainwarden::copy
