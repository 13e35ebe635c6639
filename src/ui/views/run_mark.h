// RunMark: what shows cheaply that the run at a location may have become another one.
#pragma once

#include <cstdint>

#include "store/storage/location.h"

namespace trainwarden::views {

// Of run.json, which is written once; of the folder itself where there is none. Two that are equal are of one run. Of
// two that differ the run may still be the same: who cares opens it and compares identities.
using RunMark = std::uint64_t;

// 0 when nothing is there.
RunMark mark_of(const storage::Location& run);

}  // namespace trainwarden::views
