// TensorTable: the tensors that the hook knows, by name and by id.
//
// Looking up takes no lock and allocates nothing, so that the many tensors that are not wanted cost next to nothing.
// Entries stay where they are as long as the table.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hook/capture/capture_plan.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

struct BoxLabel;

struct TensorEntry {
  std::uint32_t id = 0;
  std::string name;
  std::atomic<const Membership*> membership = nullptr;
  const TensorEntry* base = nullptr;  // of "name#1": "name", whose membership it shares

  // Of the black box: its description of this tensor, and how often it kept it in its last step.
  std::atomic<const BoxLabel*> box_label = nullptr;
  std::atomic<std::uint64_t> box_saves = 0;

  FormBits form_now() const { return membership.load(std::memory_order_acquire)->form_now(); }
  // Counts one more in the step of this number, and returns how many came before.
  std::uint32_t times_in_box_step(std::uint64_t number) {
    constexpr int kCountBits = 20;
    constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;
    std::uint64_t seen = box_saves.load(std::memory_order_relaxed);
    while (true) {
      const std::uint64_t times = seen >> kCountBits == number ? seen & kCountMask : 0;
      if (box_saves.compare_exchange_weak(seen, number << kCountBits | (times + 1), std::memory_order_relaxed)) {
        return static_cast<std::uint32_t>(times);
      }
    }
  }
};

// Any number of threads may look up while others add.
class TensorTable {
 public:
  // A program that makes up new names forever must not grow without end.
  static constexpr std::size_t kMaxTensors = std::size_t{1} << 20;
  static constexpr std::size_t kMaxNameBytes = 4096;

  TensorTable();

  TensorEntry* find(std::string_view name) const;  // nullptr when it is not known
  TensorEntry* find(TensorId id) const;

  // The entry of that name, added when there is none, with what `membership_of(name)` answers. nullptr when the table
  // is full or the name too long.
  template <class MembershipOf>
  TensorEntry* add(std::string_view name, MembershipOf membership_of);
  // The entry of "name#suffix". nullptr as above.
  TensorEntry* add_suffixed(const TensorEntry& base, std::uint32_t suffix);

  // Gives each entry, or the one, what `membership_of(entry)` answers. No entry is added meanwhile.
  template <class MembershipOf>
  void update_memberships(MembershipOf membership_of);
  template <class MembershipOf>
  void update_membership(TensorEntry& entry, MembershipOf membership_of);

 private:
  static constexpr std::size_t kChunkEntries = 1024;

  // Open addressing with linear probing; grown by building a larger one, and never shrunk.
  struct Slots {
    explicit Slots(std::size_t count) : mask(count - 1), entries(new std::atomic<TensorEntry*>[count]()) {}
    const std::size_t mask;
    const std::unique_ptr<std::atomic<TensorEntry*>[]> entries;
  };

  static void insert(Slots& slots, TensorEntry& entry);
  bool has_room_for(std::string_view name) const;
  TensorEntry* add_new(std::string_view name, const Membership& membership, const TensorEntry* base);
  TensorEntry& next_entry();
  void grow();

  std::atomic<Slots*> slots_;
  std::atomic<std::uint32_t> count_ = 0;
  std::array<std::atomic<TensorEntry*>, kMaxTensors / kChunkEntries> chunks_{};  // by id / kChunkEntries

  std::mutex mutex_;                               // guards adding, and changes of memberships
  std::vector<std::unique_ptr<Slots>> all_slots_;  // also the outgrown: somebody may still be looking at them
  std::vector<std::unique_ptr<TensorEntry[]>> all_chunks_;
};

template <class MembershipOf>
TensorEntry* TensorTable::add(std::string_view name, MembershipOf membership_of) {
  std::lock_guard lock(mutex_);
  if (TensorEntry* entry = find(name)) return entry;
  return has_room_for(name) ? add_new(name, membership_of(name), nullptr) : nullptr;
}

template <class MembershipOf>
void TensorTable::update_memberships(MembershipOf membership_of) {
  std::lock_guard lock(mutex_);
  for (std::uint32_t id = 0; TensorEntry* entry = find(TensorId{id}); ++id) {
    const TensorEntry& decisive = entry->base != nullptr ? *entry->base : *entry;
    entry->membership.store(&membership_of(decisive), std::memory_order_release);
  }
}

template <class MembershipOf>
void TensorTable::update_membership(TensorEntry& entry, MembershipOf membership_of) {
  std::lock_guard lock(mutex_);
  entry.membership.store(&membership_of(entry), std::memory_order_release);
}

}  // namespace trainwarden::capture
