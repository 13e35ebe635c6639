#include "store/s3/listing_cache.h"

#include <algorithm>
#include <functional>
#include <mutex>

#include <fmt/format.h>

#include "store/storage/path_rules.h"

namespace trainwarden::storage {
namespace {

constexpr std::int64_t kLongListingLifeNs = 30'000'000'000;  // that one is too long is not tried again before
constexpr std::size_t kMaxKept = 256;

// Tells one content from another. Amazon's times are those of seconds: the same content put twice in one looks the
// same.
std::uint64_t identity_of(const ObjectInfo& info) {
  const std::size_t hash = std::hash<std::string>{}(fmt::format("{} {}", info.etag, info.changed_unix_ns));
  return hash == 0 ? 1 : hash;
}

}  // namespace

FileInfo info_of(const std::vector<FilePart>& parts) {
  return {.kind = FileInfo::Kind::kFile,
          .bytes = bytes_of(parts),
          .changed_unix_ns = parts.back().info.changed_unix_ns,
          .identity = identity_of(parts.front().info)};
}

DeepListing::DeepListing(std::vector<ListedObject> objects) : objects_(std::move(objects)) {
  std::sort(objects_.begin(), objects_.end(), [](const auto& a, const auto& b) { return a.key < b.key; });
}

std::vector<FilePart> DeepListing::parts(const std::string& key) const {
  const auto less = [](const ListedObject& object, const std::string& wanted) { return object.key < wanted; };
  const auto whole = std::lower_bound(objects_.begin(), objects_.end(), key, less);
  if (whole != objects_.end() && whole->key == key) return {{key, 0, whole->info}};
  const std::string mark = key + std::string(kPieceMark);
  std::vector<FilePart> parts;
  for (auto piece = std::lower_bound(objects_.begin(), objects_.end(), mark, less);
       piece != objects_.end() && piece->key.starts_with(mark); ++piece) {
    add_pieces(parts, {*piece});
  }
  return parts;
}

bool DeepListing::has_beginning(const std::string& beginning) const {
  const auto found =
      std::lower_bound(objects_.begin(), objects_.end(), beginning,
                       [](const ListedObject& object, const std::string& key) { return object.key < key; });
  return found != objects_.end() && found->key.starts_with(beginning);
}

std::vector<Entry> DeepListing::entries(const std::string& beginning) const {
  std::map<std::string, FileInfo> found;
  for (const ListedObject& object : objects_) {
    if (!object.key.starts_with(beginning) || object.key == beginning) continue;
    std::string name = object.key.substr(beginning.size());
    const std::size_t slash = name.find('/');
    const auto piece = slash == std::string::npos ? parse_piece_name(name) : std::nullopt;
    if (slash != std::string::npos) name.resize(slash);
    if (piece) name = std::string(piece->file);
    if (!check_file_path(name).ok() || found.contains(name)) continue;
    const std::vector<FilePart> parts =
        slash == std::string::npos ? this->parts(beginning + name) : std::vector<FilePart>();
    if (slash != std::string::npos) {
      found[name] = {.kind = FileInfo::Kind::kFolder};
    } else if (!parts.empty()) {
      found[name] = info_of(parts);
    }
  }
  std::vector<Entry> entries;
  for (auto& [name, info] : found) entries.push_back({name, info});
  return entries;
}

const ListingCache::Kept* ListingCache::fresh(const std::string& beginning) const {
  const auto found = kept_.find(beginning);
  if (found == kept_.end()) return nullptr;
  const std::int64_t age = clock_.steady_ns() - found->second.asked_ns;
  return age < (found->second.listing ? kListingLifeNs : kLongListingLifeNs) ? &found->second : nullptr;
}

Result<std::shared_ptr<const DeepListing>> ListingCache::find(const std::string& beginning) {
  {
    const std::lock_guard guard(mutex_);
    // Its own, or that of a folder around it.
    for (std::string folder = beginning; folder.size() >= root_.size();) {
      const Kept* const kept = fresh(folder);
      if (kept != nullptr && kept->listing) return kept->listing;
      if (kept != nullptr && folder == beginning) return std::shared_ptr<const DeepListing>();
      if (folder.empty()) break;
      folder.resize(folder.size() - 1);
      folder.resize(folder.rfind('/') == std::string::npos ? 0 : folder.rfind('/') + 1);
    }
  }
  const std::int64_t now = clock_.steady_ns();  // before the bucket answers: what comes meanwhile may not be in it
  TRAINWARDEN_ASSIGN_OR_RETURN(ObjectPage page, client_->list(beginning, "", "", ""));
  std::shared_ptr<const DeepListing> listing;
  if (page.next.empty()) listing = std::make_shared<const DeepListing>(std::move(page.objects));
  const std::lock_guard guard(mutex_);
  if (kept_.size() >= kMaxKept) kept_.clear();
  kept_[beginning] = {listing, now};
  return listing;
}

void ListingCache::forget() {
  const std::lock_guard guard(mutex_);
  kept_.clear();
}

}  // namespace trainwarden::storage
