#include "store/s3/s3_storage.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "core/base/text.h"
#include "store/s3/s3_address.h"
#include "store/s3/s3_files.h"
#include "store/storage/bucket_folder.h"
#include "store/storage/location.h"
#include "store/storage/path_rules.h"
#include "store/storage/unreachable_storage.h"

namespace trainwarden::storage {
namespace {

constexpr std::size_t kCacheBytes = std::size_t{64} << 20;
constexpr int kMaxListedPages = 1'000;  // of a thousand each

// Tells one content from another. Amazon's times are those of seconds: the same content put twice in one looks the
// same.
std::uint64_t identity_of(const ObjectInfo& info) {
  const std::size_t hash = std::hash<std::string>{}(fmt::format("{} {}", info.etag, info.changed_unix_ns));
  return hash == 0 ? 1 : hash;
}

FileInfo info_of(const std::vector<FilePart>& parts) {
  return {.kind = FileInfo::Kind::kFile,
          .bytes = bytes_of(parts),
          .changed_unix_ns = parts.back().info.changed_unix_ns,
          .identity = identity_of(parts.front().info)};
}

class S3Storage final : public Storage {
 public:
  S3Storage(std::shared_ptr<S3Client> client, std::string prefix)
      : reach_{std::move(client), std::make_shared<BlockCache>(kCacheBytes)}, prefix_(std::move(prefix)) {}

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    const std::string key = key_of(path);
    if (client().head(key).ok()) return Status(Code::kAlreadyExists, fmt::format("{} is there", describe(path)));
    TRAINWARDEN_RETURN_IF_ERROR(client().put(piece_name(key, 0), {}, PutCondition::kIfAbsent));
    return append_to_s3_file(reach_.client, key);
  }

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<FilePart> parts, find_parts(client(), key_of(path)));
    return open_s3_file(reach_, key_of(path), std::move(parts));
  }

  Status put_if_absent(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return client().put(key_of(path), content, PutCondition::kIfAbsent);
  }

  Status replace(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return client().put(key_of(path), content, PutCondition::kAlways);
  }

  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override;
  Status create_folder(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& path) const override;
  Result<std::vector<Entry>> entries(const std::string& path) const override;
  Result<FileInfo> info(const std::string& path) const override;
  bool exists(const std::string& path) const override { return info(path).ok(); }

  Result<std::unique_ptr<Lock>> lock(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return Status(Code::kUnimplemented, fmt::format("{}: buckets have no locks", describe(path)));
  }
  bool locked(const std::string&) const override { return false; }
  bool has_locks() const override { return false; }
  std::string describe(const std::string& path) const override {
    return fmt::format("s3://{}/{}", client().bucket(), key_of(path));
  }

 private:
  S3Client& client() const { return *reach_.client; }
  std::string key_of(const std::string& path) const {
    return path.empty() || prefix_.empty() ? prefix_ + path : fmt::format("{}/{}", prefix_, path);
  }
  // What keys of a folder's files begin with.
  std::string beginning_of(const std::string& path) const {
    const std::string key = key_of(path);
    return key.empty() ? "" : key + "/";
  }

  const S3Reach reach_;
  const std::string prefix_;
};

Result<std::string> S3Storage::read(const std::string& path, std::uint64_t limit_bytes) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
  auto content = client().get_whole(key_of(path), limit_bytes);
  if (content.ok() || content.status().code() != Code::kNotFound) return content;
  std::vector<FilePart> parts;
  TRAINWARDEN_RETURN_IF_ERROR(find_more_parts(client(), key_of(path), parts));
  if (parts.empty()) return content;
  if (bytes_of(parts) > limit_bytes) {
    return Status(Code::kOutOfRange, fmt::format("{} is larger than {}", describe(path), format_bytes(limit_bytes)));
  }
  std::string bytes(bytes_of(parts), '\0');
  const auto file = open_s3_file(reach_, key_of(path), std::move(parts));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count, file->read_at(0, std::as_writable_bytes(std::span(bytes))));
  bytes.resize(count);
  return bytes;
}

// The empty object that other tools take for a folder, too.
Status S3Storage::create_folder(const std::string& path) {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  return path.empty() ? Status() : client().put(beginning_of(path), {}, PutCondition::kAlways);
}

Result<std::vector<std::string>> S3Storage::list(const std::string& path) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Entry> found, entries(path));
  std::vector<std::string> names;
  for (const Entry& entry : found) names.push_back(entry.name);
  return names;
}

// What a listing has of one folder, put together as files.
class Folder {
 public:
  void add(std::string name, const ListedObject& object) {
    const auto piece = parse_piece_name(name);
    if (piece) {
      add_pieces(pieces_[std::string(piece->file)], {object});
    } else {
      files_[std::move(name)] = info_of({{object.key, 0, object.info}});
    }
  }
  void add_folder(std::string name) { files_[std::move(name)] = {.kind = FileInfo::Kind::kFolder}; }

  std::vector<Entry> entries() {
    for (const auto& [name, parts] : pieces_) {
      if (!parts.empty()) files_.emplace(name, info_of(parts));
    }
    std::vector<Entry> entries;
    for (auto& [name, info] : files_) entries.push_back({name, info});
    return entries;
  }

 private:
  std::map<std::string, FileInfo> files_;
  std::map<std::string, std::vector<FilePart>> pieces_;  // by the file's name
};

Result<std::vector<Entry>> S3Storage::entries(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  const std::string beginning = beginning_of(path);
  Folder folder;
  bool is_there = beginning.empty();
  std::string token;
  for (int number = 0; number < kMaxListedPages; ++number) {
    TRAINWARDEN_ASSIGN_OR_RETURN(const ObjectPage page, client().list(beginning, "/", "", token));
    is_there = is_there || !page.objects.empty() || !page.prefixes.empty();
    for (const ListedObject& object : page.objects) {
      if (!object.key.starts_with(beginning) || object.key == beginning) continue;
      std::string name = object.key.substr(beginning.size());
      if (check_file_path(name).ok()) folder.add(std::move(name), object);
    }
    for (const std::string& prefix : page.prefixes) {
      if (!prefix.starts_with(beginning) || !prefix.ends_with('/')) continue;
      std::string name = prefix.substr(beginning.size(), prefix.size() - beginning.size() - 1);
      if (check_file_path(name).ok()) folder.add_folder(std::move(name));
    }
    if (page.next.empty()) {
      if (is_there) return folder.entries();
      return Status(Code::kNotFound, fmt::format("there is no folder {}", describe(path)));
    }
    token = page.next;
  }
  return Status(Code::kResourceExhausted, fmt::format("{} has too many entries", describe(path)));
}

Result<FileInfo> S3Storage::info(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  const FileInfo folder{.kind = FileInfo::Kind::kFolder};
  if (key_of(path).empty()) return folder;
  const auto parts = path.empty() ? Result<std::vector<FilePart>>(Status(Code::kNotFound, "a folder"))
                                  : find_parts(client(), key_of(path));
  if (parts.ok()) return info_of(*parts);
  if (parts.status().code() != Code::kNotFound) return parts.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const ObjectPage page, client().list(beginning_of(path), "", "", "", 1));
  if (!page.objects.empty()) return folder;
  return Status(Code::kNotFound, fmt::format("there is no {}", describe(path)));
}

// One client for a bucket: its connections and its budget for retries are shared.
Result<std::shared_ptr<S3Client>> client_of(const std::string& bucket) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<S3Client>> clients;
  const std::lock_guard guard(mutex);
  std::shared_ptr<S3Client>& client = clients[bucket];
  if (client) return client;
  TRAINWARDEN_ASSIGN_OR_RETURN(S3Settings settings, read_s3_settings(process_environment, bucket));
  auto credentials = std::make_shared<CredentialChain>(process_environment, system_clock());
  client = std::make_shared<S3Client>(bucket, std::move(settings), std::move(credentials), system_clock());
  return client;
}

}  // namespace

std::shared_ptr<Storage> create_s3_storage(std::shared_ptr<S3Client> client, std::string prefix) {
  return std::make_shared<S3Storage>(std::move(client), std::move(prefix));
}

Result<BucketPlace> s3_client_of(const std::string& address) {
  TRAINWARDEN_ASSIGN_OR_RETURN(S3Address parsed,
                               parse_s3_address(std::string_view(address).substr(kBucketScheme.size())));
  TRAINWARDEN_ASSIGN_OR_RETURN(std::shared_ptr<S3Client> client, client_of(parsed.bucket));
  return BucketPlace{std::move(client), std::move(parsed.prefix)};
}

std::shared_ptr<Storage> open_s3_storage(const std::string& rest) {
  auto place = s3_client_of(std::string(kBucketScheme) + rest);
  if (!place.ok()) return create_unreachable_storage(place.status());
  return create_s3_storage(std::move(place->client), std::move(place->prefix));
}

void use_s3() {
  set_bucket_storage(open_s3_storage);
}

}  // namespace trainwarden::storage
