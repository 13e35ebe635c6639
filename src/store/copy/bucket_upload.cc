#include "store/copy/bucket_upload.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/exchange/digest.h"
#include "store/s3/content_tag.h"
#include "store/s3/s3_files.h"

namespace trainwarden::copy {
namespace {

using storage::S3Client;
using storage::UnfinishedUpload;
using storage::UploadedPart;

// Who may put objects need not be allowed to list what was begun; and some stores cannot.
template <class Value>
bool may_begin_anew(const Result<Value>& listed) {
  if (listed.ok()) return true;
  const Code code = listed.status().code();
  return code == Code::kNotFound || code == Code::kPermissionDenied || code == Code::kUnimplemented;
}

std::vector<std::string> pieces_of(const CopyFile* before) {
  std::vector<std::string> keys;
  if (before == nullptr || !before->is_pieces()) return keys;
  for (const storage::FilePart& part : before->parts) keys.push_back(part.key);
  return keys;
}

Status remove_all(S3Client& client, const std::vector<std::string>& keys) {
  for (const std::string& key : keys) TRAINWARDEN_RETURN_IF_ERROR(client.remove(key));
  return {};
}

class SmallUpload final : public FileReceiver {
 public:
  SmallUpload(std::shared_ptr<S3Client> client, std::string key, std::vector<std::string> pieces)
      : client_(std::move(client)), key_(std::move(key)), pieces_(std::move(pieces)) {}

  std::uint64_t chunk_bytes() const override { return storage::kPartBytes; }
  Result<Arrival> put(std::uint64_t, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(client_->put_checked(key_, content).status());
    is_put_ = true;
    return Arrival::kSent;
  }
  Status finish() override {
    // Of an empty file no chunk came.
    if (!is_put_) TRAINWARDEN_RETURN_IF_ERROR(client_->put_checked(key_, {}).status());
    return remove_all(*client_, pieces_);
  }
  void discard() override {}

 private:
  const std::shared_ptr<S3Client> client_;
  const std::string key_;
  const std::vector<std::string> pieces_;
  bool is_put_ = false;
};

class LargeUpload final : public FileReceiver {
 public:
  LargeUpload(std::shared_ptr<S3Client> client, std::string key, std::uint64_t bytes, std::vector<std::string> pieces)
      : client_(std::move(client)),
        key_(std::move(key)),
        bytes_(bytes),
        part_bytes_(storage::part_bytes_for(bytes)),
        pieces_(std::move(pieces)),
        digests_((bytes + part_bytes_ - 1) / part_bytes_),
        etags_(digests_.size()) {}

  // The newest of those that were begun for this key and whose parts are cut as ours is gone on with.
  Status begin() {
    auto uploads = client_->unfinished_uploads(key_);
    if (!may_begin_anew(uploads)) return uploads.status();
    std::vector<UnfinishedUpload> own;
    if (uploads.ok()) own = *std::move(uploads);
    std::erase_if(own, [&](const UnfinishedUpload& upload) { return upload.key != key_; });
    std::sort(own.begin(), own.end(),
              [](const UnfinishedUpload& a, const UnfinishedUpload& b) { return a.begun_unix_ns > b.begun_unix_ns; });
    for (const UnfinishedUpload& upload : own) {
      const auto parts = client_->uploaded_parts(key_, upload.id);
      if (!may_begin_anew(parts)) return parts.status();
      if (!parts.ok() || !fits(*parts)) continue;
      id_ = upload.id;
      for (const UploadedPart& part : *parts) there_[part.number] = part;
      return {};
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(id_, client_->begin_upload(key_));
    return {};
  }

  std::uint64_t chunk_bytes() const override { return part_bytes_; }

  Result<Arrival> put(std::uint64_t chunk, ByteSpan content) override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string binary, exchange::md5(as_text(content)));
    const std::string digest = exchange::hex(binary);
    const int number = static_cast<int>(chunk) + 1;
    const auto found = there_.find(number);
    const auto tag = found == there_.end() ? std::nullopt : storage::parse_content_tag(found->second.etag);
    if (tag && tag->digest == digest && found->second.bytes == content.size()) {
      keep(chunk, digest, found->second.etag);
      return Arrival::kWasThere;
    }
    TRAINWARDEN_ASSIGN_OR_RETURN(std::string etag, client_->put_part(key_, id_, number, content, binary));
    keep(chunk, digest, std::move(etag));
    return Arrival::kSent;
  }

  Status finish() override {
    TRAINWARDEN_ASSIGN_OR_RETURN(const std::string expected, storage::tag_of_parts(digests_));
    const auto ended = client_->end_upload(key_, id_, etags_);
    std::string etag = ended.value_or("");
    if (!ended.ok()) {
      // The answer of an attempt that was taken may be lost; or another process has ended it.
      const auto there = client_->head(key_);
      const bool is_ours = ended.status().code() == Code::kNotFound && there.ok() && there->bytes == bytes_ &&
                           tag_of(there->etag) == expected;
      if (!is_ours) return ended.status();
      etag = there->etag;
    }
    const std::string found = tag_of(etag);
    if (!found.empty() && has_own_tags() && found != expected) {
      return Status(Code::kDataLoss, fmt::format("{} has other bytes than were sent: expected the tag {}, found {}",
                                                 printable(key_), expected, printable(etag)));
    }
    return remove_all(*client_, pieces_);
  }

  void discard() override { (void)client_->give_up_upload(key_, id_); }

 private:
  bool fits(const std::vector<UploadedPart>& parts) const {
    return std::all_of(parts.begin(), parts.end(), [&](const UploadedPart& part) {
      const std::uint64_t begin = static_cast<std::uint64_t>(part.number - 1) * part_bytes_;
      return begin < bytes_ && part.bytes == std::min(part_bytes_, bytes_ - begin);
    });
  }
  static std::string tag_of(const std::string& etag) {
    const auto tag = storage::parse_content_tag(etag);
    return tag && tag->parts > 0 ? fmt::format("{}-{}", tag->digest, tag->parts) : "";
  }
  // The tags of its parts are digests; those of a bucket with keys of KMS are not.
  bool has_own_tags() const {
    for (std::size_t i = 0; i < etags_.size(); ++i) {
      const auto tag = storage::parse_content_tag(etags_[i]);
      if (!tag || tag->digest != digests_[i]) return false;
    }
    return true;
  }
  void keep(std::uint64_t chunk, std::string digest, std::string etag) {
    const std::lock_guard guard(mutex_);
    digests_[chunk] = std::move(digest);
    etags_[chunk] = std::move(etag);
  }

  const std::shared_ptr<S3Client> client_;
  const std::string key_;
  const std::uint64_t bytes_, part_bytes_;
  const std::vector<std::string> pieces_;
  std::string id_;
  std::map<int, UploadedPart> there_;
  std::mutex mutex_;
  std::vector<std::string> digests_, etags_;  // of each chunk
};

}  // namespace

Result<std::unique_ptr<FileReceiver>> begin_bucket_upload(std::shared_ptr<S3Client> client, std::string key,
                                                          std::uint64_t bytes, const CopyFile* before) {
  std::vector<std::string> pieces = pieces_of(before);
  if (bytes <= storage::kPartBytes) {
    return std::unique_ptr<FileReceiver>(
        std::make_unique<SmallUpload>(std::move(client), std::move(key), std::move(pieces)));
  }
  auto upload = std::make_unique<LargeUpload>(std::move(client), std::move(key), bytes, std::move(pieces));
  TRAINWARDEN_RETURN_IF_ERROR(upload->begin());
  return std::unique_ptr<FileReceiver>(std::move(upload));
}

}  // namespace trainwarden::copy
