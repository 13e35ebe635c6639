#include "hook/capture/known_tensors.h"

namespace trainwarden::capture {

// Kept out of find_or_add(), which every tensor that is not wanted goes through.
[[gnu::noinline]] TensorEntry* KnownTensors::add(std::string_view name) {
  return table_.add(name, [&](std::string_view added) -> const Membership& { return plan_.membership_of(added); });
}

void KnownTensors::add_to(TensorEntry& entry, std::span<const std::string_view> collections) {
  table_.update_membership(entry, [&](const TensorEntry& updated) -> const Membership& {
    return plan_.with_collections(*updated.membership.load(std::memory_order_acquire), collections);
  });
}

TensorId KnownTensors::declare(std::string_view name, std::span<const std::string_view> collections) {
  TensorEntry* entry = find_or_add(name);
  if (entry == nullptr) return TensorId();
  if (!collections.empty()) add_to(*entry, collections);
  return TensorId{entry->id};
}

bool KnownTensors::wants(TensorId id) const {
  const TensorEntry* entry = find(id);
  return entry != nullptr && entry->form_now() != 0;
}

bool KnownTensors::wants(std::string_view name) {
  const TensorEntry* entry = find_or_add(name);
  return entry != nullptr && entry->form_now() != 0;
}

std::optional<std::int64_t> KnownTensors::next_wanted_step(TensorId id) const {
  const TensorEntry* entry = find(id);
  if (entry == nullptr) return std::nullopt;
  return plan_.next_wanted_step(*entry->membership.load(std::memory_order_acquire));
}

void KnownTensors::update_memberships() {
  table_.update_memberships([&](const TensorEntry& entry) -> const Membership& {
    return plan_.membership_after_change(*entry.membership.load(std::memory_order_acquire), entry.name);
  });
}

}  // namespace trainwarden::capture
