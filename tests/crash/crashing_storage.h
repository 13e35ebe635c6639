// CrashingStorage: a storage that kills its process at a named moment.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/storage/storage.h"

namespace trainwarden::crash {

// after_segment_create, before_append, torn_append, after_append, before_seal, between_index_and_trailer, after_seal
const std::vector<std::string>& crash_points();

// Kills this process with SIGKILL when `point` is reached for the `count`-th time, from 1.
std::shared_ptr<storage::Storage> create_crashing_storage(std::unique_ptr<storage::Storage> base, std::string point,
                                                          int count);

}  // namespace trainwarden::crash
