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

#include "capture/capture_plan.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

struct TensorEntry {
  std::uint32_t id = 0;
  std::string name;
  std::atomic<const Membership*> membership = nullptr;

  FormBits form_now() const { return membership.load(std::memory_order_acquire)->form_now(); }
};

// Any number of threads may look up while others add.
class TensorTable {
 public:
  // A program that makes up new names for ever must not grow without end.
  static constexpr std::size_t kMaxTensors = std::size_t{1} << 20;
  static constexpr std::size_t kMaxNameBytes = 4096;

  TensorTable();

  TensorEntry* find(std::string_view name) const;  // nullptr when it is not known
  TensorEntry* find(TensorId id) const;

  // The entry of that name, added when there is none. nullptr when the table is full or the name too long.
  TensorEntry* add(std::string_view name, const Membership& membership);

 private:
  static constexpr std::size_t kChunkEntries = 1024;

  // Open addressing with linear probing; grown by building a larger one, and never shrunk.
  struct Slots {
    explicit Slots(std::size_t count) : mask(count - 1), entries(new std::atomic<TensorEntry*>[count]()) {}
    const std::size_t mask;
    const std::unique_ptr<std::atomic<TensorEntry*>[]> entries;
  };

  static void insert(Slots& slots, TensorEntry& entry);
  TensorEntry& next_entry();
  void grow();

  std::atomic<Slots*> slots_;
  std::atomic<std::uint32_t> count_ = 0;
  std::array<std::atomic<TensorEntry*>, kMaxTensors / kChunkEntries> chunks_{};  // by id / kChunkEntries

  std::mutex mutex_;                               // guards adding
  std::vector<std::unique_ptr<Slots>> all_slots_;  // also the outgrown: somebody may still be looking at them
  std::vector<std::unique_ptr<TensorEntry[]>> all_chunks_;
};

}  // namespace trainwarden::capture
