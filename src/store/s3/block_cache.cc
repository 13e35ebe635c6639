#include "store/s3/block_cache.h"

#include <mutex>

namespace trainwarden::storage {

BlockCache::Block BlockCache::find(const Place& place) {
  const std::lock_guard guard(mutex_);
  const auto found = blocks_.find(place);
  if (found == blocks_.end()) return nullptr;
  turns_.splice(turns_.begin(), turns_, found->second.turn);
  return found->second.block;
}

void BlockCache::keep(const Place& place, Block block) {
  const std::lock_guard guard(mutex_);
  if (blocks_.contains(place)) return;
  bytes_ += block->size();
  turns_.push_front(place);
  blocks_[place] = {std::move(block), turns_.begin()};
  while (bytes_ > max_bytes_ && turns_.size() > 1) {
    const auto oldest = blocks_.find(turns_.back());
    bytes_ -= oldest->second.block->size();
    blocks_.erase(oldest);
    turns_.pop_back();
  }
}

}  // namespace trainwarden::storage
