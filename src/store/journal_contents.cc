#include "store/journal_contents.h"

#include <algorithm>

namespace trainwarden::store {

std::uint32_t JournalContents::tensor_index(std::string_view name) {
  const auto next_index = static_cast<std::uint32_t>(tensors.size());
  const auto [known, is_new] = tensor_by_name.emplace(name, next_index);
  if (is_new) tensors.push_back({std::string(name), {}});
  return known->second;
}

std::uint32_t JournalContents::add_name(const format::NameEntry& entry) {
  const std::uint32_t index = tensor_index(entry.name);
  std::vector<std::string>& collections_of = tensors[index].collections;
  for (const std::string& collection : entry.collections) {
    const auto place = std::lower_bound(collections_of.begin(), collections_of.end(), collection);
    if (place == collections_of.end() || *place != collection) collections_of.insert(place, collection);
  }
  return index;
}

void JournalContents::add_collections(std::span<const Collection> added) {
  for (const Collection& collection : added) {
    const auto known = std::find_if(collections.begin(), collections.end(),
                                    [&](const Collection& other) { return other.name == collection.name; });
    if (known == collections.end()) {
      collections.push_back(collection);
    } else {
      *known = collection;
    }
  }
}

}  // namespace trainwarden::store
