// BoundedCache: what was computed or read at a cost, kept within a number of bytes; the oldest looks go first.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "trainwarden/status.h"

namespace trainwarden::views::attention {

// From any thread. Whoever got a value keeps it, whatever the cache forgets.
template <class Key, class Value>
class BoundedCache {
 public:
  explicit BoundedCache(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // What `make` gives when it is not there: Result<Value>. One thread makes it, others that want the same wait for it.
  // An error is not kept. `bytes_of` says what a value takes.
  template <class Make, class BytesOf>
  Result<std::shared_ptr<const Value>> get(const Key& key, Make make, BytesOf bytes_of) {
    const std::shared_ptr<Slot> slot = slot_of(key);
    const std::lock_guard making(slot->making);
    if (slot->value != nullptr) return slot->value;
    Result<Value> made = make();
    if (!made.ok()) {
      forget(key, slot);
      return made.status();
    }
    slot->value = std::make_shared<const Value>(*std::move(made));
    count(key, slot, bytes_of(*slot->value));
    return slot->value;
  }

  // What is there, or nullptr; also while it is being made.
  std::shared_ptr<const Value> peek(const Key& key) {
    std::shared_ptr<Slot> slot;
    {
      const std::lock_guard lock(mutex_);
      const auto found = slots_.find(key);
      if (found == slots_.end()) return nullptr;
      slot = found->second;
      slot->looked_at = ++looks_;
    }
    const std::unique_lock made(slot->making, std::try_to_lock);
    return made.owns_lock() ? slot->value : nullptr;
  }

 private:
  struct Slot {
    std::mutex making;
    std::shared_ptr<const Value> value;  // guarded by `making`
    std::size_t bytes = 0;               // these two guarded by the cache's mutex
    std::uint64_t looked_at = 0;
  };

  std::shared_ptr<Slot> slot_of(const Key& key) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<Slot>& slot = slots_[key];
    if (!slot) slot = std::make_shared<Slot>();
    slot->looked_at = ++looks_;
    return slot;
  }

  void forget(const Key& key, const std::shared_ptr<Slot>& slot) {
    const std::lock_guard lock(mutex_);
    const auto found = slots_.find(key);
    if (found != slots_.end() && found->second == slot) slots_.erase(found);
  }

  void count(const Key& key, const std::shared_ptr<Slot>& slot, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    const auto own = slots_.find(key);
    if (own == slots_.end() || own->second != slot) return;  // forgotten while it was made
    slot->bytes = bytes;
    bytes_ += bytes;
    while (bytes_ > most_bytes_ && drop_oldest(slot)) {
    }
  }

  // Those that are being made count nothing yet and stay.
  bool drop_oldest(const std::shared_ptr<Slot>& but) {
    auto oldest = slots_.end();
    for (auto at = slots_.begin(); at != slots_.end(); ++at) {
      if (at->second == but || at->second->bytes == 0) continue;
      if (oldest == slots_.end() || at->second->looked_at < oldest->second->looked_at) oldest = at;
    }
    if (oldest == slots_.end()) return false;
    bytes_ -= oldest->second->bytes;
    slots_.erase(oldest);
    return true;
  }

  const std::size_t most_bytes_;
  std::mutex mutex_;
  std::map<Key, std::shared_ptr<Slot>> slots_;
  std::size_t bytes_ = 0;
  std::uint64_t looks_ = 0;
};

}  // namespace trainwarden::views::attention
