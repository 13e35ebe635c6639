// Collections as JSON, for the manifest of a segment.
#pragma once

#include <vector>

#include "data/format/json.h"
#include "trainwarden/collection.h"
#include "trainwarden/status.h"

namespace trainwarden::format {

inline constexpr std::size_t kMostCollections = 100'000;  // in one document; each takes about a KiB in memory

OrderedJson collections_to_json(const std::vector<Collection>& collections);
Result<std::vector<Collection>> collections_from_json(const Json& array);

}  // namespace trainwarden::format
