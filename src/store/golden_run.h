// The golden run of testdata/golden/v1: how it is written, and what is in it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/memory_storage.h"
#include "storage/storage.h"
#include "store/sample_run.h"

namespace trainwarden::store {

// run.json; rank-00000 with one sealed segment and one that is not; watch-0 with verdict and action.
void write_golden_run(storage::Storage& storage);

// The steps of rank-00000 in the order of writing; the first three lie in the sealed segment.
std::vector<std::unique_ptr<SampleStep>> golden_steps();

// Relative to the run's folder.
std::vector<std::string> golden_files();

// The checked-in files, in memory.
std::unique_ptr<storage::MemoryStorage> load_golden_run();
std::string golden_path(const std::string& file);

}  // namespace trainwarden::store
