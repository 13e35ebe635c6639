// The golden runs of testdata/golden: how they are written, and what is in them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "store/journal/sample_run.h"
#include "store/storage/memory_storage.h"
#include "store/storage/storage.h"

namespace trainwarden::journal {

// Each is of the same format version. What came later has a run of its own, as the files of the first never change.
enum class Golden {
  kFirst,       // v1: rank-00000 with one sealed segment and one that is not; watch-0 with verdict and action
  kReductions,  // v1-reductions: rank-00000 alone, with single reductions
  kSamples,     // v1-samples: rank-00000 alone, with samples before each step
  kOperators,   // v1-operators: rank-00000 alone, with operator calls behind some steps
  kShared,      // v1-shared: rank-00000 alone, with so many records that steps share them in the index
  kCompressed,  // v2: rank-00000 alone, the steps of v1, compressed
};

void write_golden_run(storage::Storage& storage, Golden golden = Golden::kFirst);

// The steps of rank-00000 in the order of writing; the first three lie in the sealed segment.
std::vector<std::unique_ptr<SampleStep>> golden_steps(Golden golden = Golden::kFirst);

// What golden_steps(kSamples)[i] comes after.
SampleBatch golden_samples(std::size_t step);

// What comes after golden_steps(kOperators)[i]; nothing after the last.
OperatorBatch golden_operators(std::size_t step);

// Relative to the run's folder.
std::vector<std::string> golden_files(Golden golden = Golden::kFirst);

// The checked-in files, in memory.
std::unique_ptr<storage::MemoryStorage> load_golden_run(Golden golden = Golden::kFirst);
std::string golden_path(const std::string& file, Golden golden = Golden::kFirst);

}  // namespace trainwarden::journal
