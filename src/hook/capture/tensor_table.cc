#include "hook/capture/tensor_table.h"

#include <functional>

#include <fmt/format.h>

namespace trainwarden::capture {
namespace {

constexpr std::size_t kFirstSlots = 256;

std::size_t hash_of(std::string_view name) {
  return std::hash<std::string_view>()(name);
}

}  // namespace

TensorTable::TensorTable() {
  all_slots_.push_back(std::make_unique<Slots>(kFirstSlots));
  slots_.store(all_slots_.back().get(), std::memory_order_release);
}

TensorEntry* TensorTable::find(std::string_view name) const {
  const Slots& slots = *slots_.load(std::memory_order_acquire);
  for (std::size_t i = hash_of(name) & slots.mask;; i = (i + 1) & slots.mask) {
    TensorEntry* entry = slots.entries[i].load(std::memory_order_acquire);
    if (entry == nullptr || entry->name == name) return entry;
  }
}

TensorEntry* TensorTable::find(TensorId id) const {
  if (id.value >= count_.load(std::memory_order_acquire)) return nullptr;
  return &chunks_[id.value / kChunkEntries].load(std::memory_order_relaxed)[id.value % kChunkEntries];
}

TensorEntry* TensorTable::add_suffixed(const TensorEntry& base, std::uint32_t suffix) {
  const std::string name = fmt::format("{}#{}", base.name, suffix);
  std::lock_guard lock(mutex_);
  if (TensorEntry* entry = find(name)) return entry;
  if (!has_room_for(name)) return nullptr;
  return add_new(name, *base.membership.load(std::memory_order_relaxed), &base);
}

bool TensorTable::has_room_for(std::string_view name) const {
  return count_.load(std::memory_order_relaxed) < kMaxTensors && name.size() <= kMaxNameBytes;
}

TensorEntry* TensorTable::add_new(std::string_view name, const Membership& membership, const TensorEntry* base) {
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  if ((count + 1) * 2 > all_slots_.back()->mask + 1) grow();
  TensorEntry& entry = next_entry();
  entry.name = name;
  entry.id = count;
  entry.base = base;
  entry.membership.store(&membership, std::memory_order_relaxed);
  insert(*all_slots_.back(), entry);
  count_.store(count + 1, std::memory_order_release);
  return &entry;
}

void TensorTable::insert(Slots& slots, TensorEntry& entry) {
  std::size_t i = hash_of(entry.name) & slots.mask;
  while (slots.entries[i].load(std::memory_order_relaxed) != nullptr) i = (i + 1) & slots.mask;
  slots.entries[i].store(&entry, std::memory_order_release);
}

TensorEntry& TensorTable::next_entry() {
  const std::uint32_t id = count_.load(std::memory_order_relaxed);
  const std::size_t chunk = id / kChunkEntries;
  if (chunk == all_chunks_.size()) {
    all_chunks_.push_back(std::make_unique<TensorEntry[]>(kChunkEntries));
    chunks_[chunk].store(all_chunks_.back().get(), std::memory_order_relaxed);
  }
  return all_chunks_[chunk][id % kChunkEntries];
}

void TensorTable::grow() {
  auto larger = std::make_unique<Slots>((all_slots_.back()->mask + 1) * 2);
  const std::uint32_t count = count_.load(std::memory_order_relaxed);
  for (std::uint32_t id = 0; id < count; ++id) insert(*larger, *find(TensorId{id}));
  all_slots_.push_back(std::move(larger));
  slots_.store(all_slots_.back().get(), std::memory_order_release);
}

}  // namespace trainwarden::capture
