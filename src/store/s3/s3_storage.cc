#include "store/s3/s3_storage.h"

#include <algorithm>
#include <map>
#include <mutex>

#include <fmt/format.h>

#include "core/base/bucket_variables.h"
#include "core/base/text.h"
#include "store/s3/fork_aware_mutex.h"
#include "store/s3/google_buckets.h"
#include "store/s3/listing_cache.h"
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

class S3Storage final : public Storage {
 public:
  S3Storage(std::shared_ptr<S3Client> client, std::string prefix, const Clock& clock)
      : prefix_(std::move(prefix)),
        listings_(std::make_shared<ListingCache>(client, prefix_.empty() ? "" : prefix_ + "/", clock)),
        reach_{std::move(client), std::make_shared<BlockCache>(kCacheBytes),
               [listings = listings_] { listings->forget(); }} {}

  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    const std::string key = key_of(path);
    if (client().head(key).ok()) return Status(Code::kAlreadyExists, fmt::format("{} is there", describe(path)));
    TRAINWARDEN_RETURN_IF_ERROR(put(piece_name(key, 0), {}, PutCondition::kIfAbsent));
    return append_to_s3_file(reach_.client, key, [listings = listings_] { listings->forget(); });
  }

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) const override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    TRAINWARDEN_ASSIGN_OR_RETURN(std::vector<FilePart> parts, parts_of(path));
    return open_s3_file(reach_, key_of(path), std::move(parts));
  }

  Status put_if_absent(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return put(key_of(path), content, PutCondition::kIfAbsent);
  }

  Status replace(const std::string& path, ByteSpan content) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_file_path(path));
    return put(key_of(path), content, PutCondition::kAlways);
  }

  // The empty object that other tools take for a folder, too.
  Status create_folder(const std::string& path) override {
    TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
    return path.empty() ? Status() : put(beginning_of(path), {}, PutCondition::kAlways);
  }

  Result<std::string> read(const std::string& path, std::uint64_t limit_bytes) const override;
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
  std::string describe(const std::string& path) const override { return client().address_of(key_of(path)); }

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
  Status put(const std::string& key, ByteSpan content, PutCondition condition) {
    listings_->forget();
    const Status status = client().put(key, content, condition);
    listings_->forget();
    return status;
  }
  Status not_found(const std::string& path) const {
    return Status(Code::kNotFound, fmt::format("there is no {}", describe(path)));
  }
  // Of the folder around it; null where that is too large to be listed at once.
  Result<std::shared_ptr<const DeepListing>> listing_around(const std::string& path) const {
    return listings_->find(beginning_of(std::string(parent_path(path))));
  }
  Result<std::vector<FilePart>> parts_of(const std::string& path) const;
  Result<std::vector<Entry>> long_entries(const std::string& path) const;

  const std::string prefix_;
  const std::shared_ptr<ListingCache> listings_;
  const S3Reach reach_;
};

Result<std::vector<FilePart>> S3Storage::parts_of(const std::string& path) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto listing, listing_around(path));
  if (!listing) return find_parts(client(), key_of(path));
  std::vector<FilePart> parts = listing->parts(key_of(path));
  if (parts.empty()) return not_found(path);
  return parts;
}

Result<std::string> S3Storage::read(const std::string& path, std::uint64_t limit_bytes) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto file, open(path));
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::uint64_t size, file->bytes());
  if (size > limit_bytes) {
    return Status(Code::kOutOfRange, fmt::format("{} is larger than {}", describe(path), format_bytes(limit_bytes)));
  }
  std::string bytes(size, '\0');
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::size_t count, file->read_at(0, std::as_writable_bytes(std::span(bytes))));
  bytes.resize(count);
  return bytes;
}

Result<std::vector<std::string>> S3Storage::list(const std::string& path) const {
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::vector<Entry> found, entries(path));
  std::vector<std::string> names;
  for (const Entry& entry : found) names.push_back(entry.name);
  return names;
}

Result<std::vector<Entry>> S3Storage::entries(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  const std::string beginning = beginning_of(path);
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto listing, listings_->find(beginning));
  if (!listing) return long_entries(path);
  if (beginning.empty() || listing->has_beginning(beginning)) return listing->entries(beginning);
  return Status(Code::kNotFound, fmt::format("there is no folder {}", describe(path)));
}

// Of a folder that takes many pages: without what lies deeper.
Result<std::vector<Entry>> S3Storage::long_entries(const std::string& path) const {
  const std::string beginning = beginning_of(path);
  std::vector<ListedObject> objects;
  std::string token;
  for (int number = 0; number < kMaxListedPages; ++number) {
    TRAINWARDEN_ASSIGN_OR_RETURN(ObjectPage page, client().list(beginning, "/", "", token));
    for (ListedObject& object : page.objects) objects.push_back(std::move(object));
    for (const std::string& prefix : page.prefixes) objects.push_back({.key = prefix, .info = {}});
    if (page.next.empty()) return DeepListing(std::move(objects)).entries(beginning);
    token = page.next;
  }
  return Status(Code::kResourceExhausted, fmt::format("{} has too many entries", describe(path)));
}

Result<FileInfo> S3Storage::info(const std::string& path) const {
  TRAINWARDEN_RETURN_IF_ERROR(check_path(path));
  const FileInfo folder{.kind = FileInfo::Kind::kFolder};
  if (key_of(path).empty()) return folder;
  const auto parts = path.empty() ? Result<std::vector<FilePart>>(Status(Code::kNotFound, "a folder")) : parts_of(path);
  if (parts.ok()) return info_of(*parts);
  if (parts.status().code() != Code::kNotFound) return parts.status();
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto listing,
                               path.empty() ? listings_->find(beginning_of("")) : listing_around(path));
  if (listing) return listing->has_beginning(beginning_of(path)) ? Result<FileInfo>(folder) : not_found(path);
  TRAINWARDEN_ASSIGN_OR_RETURN(const ObjectPage page, client().list(beginning_of(path), "", "", "", 1));
  return page.objects.empty() ? Result<FileInfo>(not_found(path)) : folder;
}

Result<std::shared_ptr<S3Client>> make_client(const S3Address& address,
                                              const Environment& process = process_environment,
                                              std::stop_token stop = {}, std::uint64_t max_bytes_per_second = 0) {
  const bool is_google = address.scheme == "gs";
  const Environment environment = is_google ? google_environment(process) : process;
  TRAINWARDEN_ASSIGN_OR_RETURN(S3Settings settings, read_s3_settings(environment, address.bucket));
  settings.scheme = address.scheme;
  const std::uint64_t set = settings.max_bytes_per_second;
  if (max_bytes_per_second > 0 && (set == 0 || max_bytes_per_second < set))
    settings.max_bytes_per_second = max_bytes_per_second;
  auto credentials =
      std::make_shared<CredentialChain>(environment, system_clock(), is_google ? kGoogleKeysMissing : "");
  return std::make_shared<S3Client>(address.bucket, std::move(settings), std::move(credentials), system_clock(),
                                    std::move(stop));
}

// What settings and credentials are made from, but for files: another text, and they may be others.
std::string environment_mark() {
  static constexpr const char* kVariables[] = {variable::kUnsigned,
                                               variable::kGsKeyId,
                                               variable::kGsSecret,
                                               variable::kGsEndpoint,
                                               variable::kAwsKeyId,
                                               variable::kAwsSecret,
                                               variable::kAwsSessionToken,
                                               variable::kAwsProfile,
                                               variable::kAwsCredentialsFile,
                                               variable::kAwsConfigFile,
                                               variable::kAwsRegion,
                                               variable::kAwsDefaultRegion,
                                               variable::kAwsS3Endpoint,
                                               variable::kAwsEndpoint,
                                               variable::kAwsCaBundle,
                                               variable::kAwsMaxAttempts,
                                               variable::kAwsStsEndpoint,
                                               variable::kAwsWebIdentityTokenFile,
                                               variable::kAwsRoleArn,
                                               variable::kAwsRoleSessionName,
                                               variable::kAwsContainerFullUri,
                                               variable::kAwsContainerRelativeUri,
                                               "HOME"};
  std::string mark;
  for (const char* name : kVariables) {
    const char* const value = process_environment(name);
    mark += fmt::format("{}\n", value == nullptr ? "" : value);
  }
  return mark;
}

// One for all storages of a bucket: its connections and its budget for retries are shared. A notebook may set its
// variables after a first try without them; then there is another.
Result<std::shared_ptr<S3Client>> shared_client(const S3Address& address) {
  struct Shared {
    std::string mark;
    std::shared_ptr<S3Client> client;
  };
  static ForkAwareMutex mutex;
  static std::map<std::string, Shared> clients;
  const std::lock_guard guard(mutex);
  Shared& shared = clients[fmt::format("{}://{}", address.scheme, address.bucket)];
  std::string mark = environment_mark();
  if (shared.client && shared.mark == mark) return shared.client;
  TRAINWARDEN_ASSIGN_OR_RETURN(shared.client, make_client(address));
  shared.mark = std::move(mark);
  return shared.client;
}

}  // namespace

std::shared_ptr<Storage> create_s3_storage(std::shared_ptr<S3Client> client, std::string prefix, const Clock& clock) {
  return std::make_shared<S3Storage>(std::move(client), std::move(prefix), clock);
}

Result<BucketPlace> reach_bucket(const std::string& address, std::stop_token stop) {
  return reach_bucket(address, process_environment, std::move(stop));
}

Result<BucketPlace> reach_bucket(const std::string& address, const Environment& environment, std::stop_token stop,
                                 std::uint64_t max_bytes_per_second) {
  TRAINWARDEN_ASSIGN_OR_RETURN(S3Address parsed, parse_s3_address(address));
  TRAINWARDEN_ASSIGN_OR_RETURN(std::shared_ptr<S3Client> client,
                               make_client(parsed, environment, std::move(stop), max_bytes_per_second));
  return BucketPlace{std::move(client), std::move(parsed.prefix)};
}

std::shared_ptr<Storage> open_s3_storage(const std::string& typed) {
  auto address = parse_s3_address(typed);
  if (!address.ok()) return create_unreachable_storage(address.status());
  auto client = shared_client(*address);
  if (!client.ok()) return create_unreachable_storage(client.status());
  return create_s3_storage(*std::move(client), std::move(address->prefix));
}

void use_s3() {
  set_bucket_storage(open_s3_storage);
}

}  // namespace trainwarden::storage
