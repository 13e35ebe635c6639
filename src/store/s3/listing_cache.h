// What a bucket has listed of folders, kept for a moment: whoever opens a run asks for dozens of names in it, and one
// listing answers them all.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/s3/appended_file.h"
#include "store/s3/fork_aware_mutex.h"
#include "store/s3/s3_client.h"
#include "store/storage/storage.h"

namespace trainwarden::storage {

inline constexpr std::int64_t kListingLifeNs = 1'000'000'000;

// All objects beneath a folder, by key.
class DeepListing {
 public:
  explicit DeepListing(std::vector<ListedObject> objects);

  // The parts of the file of this key; empty: there is none.
  std::vector<FilePart> parts(const std::string& key) const;
  // Does any key begin with this? A folder's with '/' at its end.
  bool has_beginning(const std::string& beginning) const;
  // What lies directly in the folder whose keys begin with `beginning`.
  std::vector<Entry> entries(const std::string& beginning) const;

 private:
  std::vector<ListedObject> objects_;  // in order of keys
};

// From many threads at once.
class ListingCache {
 public:
  // Folders of keys that begin with `root`, which is "" or ends with '/', and no others.
  ListingCache(std::shared_ptr<S3Client> client, std::string root, const Clock& clock)
      : client_(std::move(client)), root_(std::move(root)), clock_(clock) {}

  // A listing that has all keys which begin with `beginning`, a folder's; it is at most kListingLifeNs old. Null where
  // a page of S3 does not hold them all.
  Result<std::shared_ptr<const DeepListing>> find(const std::string& beginning);
  // Something was written.
  void forget();

 private:
  struct Kept {
    std::shared_ptr<const DeepListing> listing;  // null: it is too long
    std::int64_t asked_ns = 0;
  };

  const Kept* fresh(const std::string& beginning) const;

  const std::shared_ptr<S3Client> client_;
  const std::string root_;
  const Clock& clock_;
  ForkAwareMutex mutex_;
  std::map<std::string, Kept> kept_;  // by what the keys of a folder begin with
};

// What a file of these parts is.
FileInfo info_of(const std::vector<FilePart>& parts);

}  // namespace trainwarden::storage
