// What was read of objects, in blocks, for who reads many small pieces near to each other. An object's content never
// changes under its etag, so nothing here grows old.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "store/s3/fork_aware_mutex.h"

namespace trainwarden::storage {

inline constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// From many threads at once.
class BlockCache {
 public:
  using Block = std::shared_ptr<const std::string>;
  using Place = std::pair<std::string, std::uint64_t>;  // key and etag; the number of the block

  explicit BlockCache(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  Block find(const Place& place);  // null: it is not here
  void keep(const Place& place, Block block);

 private:
  struct Kept {
    Block block;
    std::list<Place>::iterator turn;
  };

  const std::size_t max_bytes_;
  ForkAwareMutex mutex_;
  std::map<Place, Kept> blocks_;
  std::list<Place> turns_;  // the one that was asked for last is the first
  std::size_t bytes_ = 0;
};

}  // namespace trainwarden::storage
