// What runs weigh: how many bytes lie there, and what for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

struct Weight {
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t records = 0;  // of tensors; of a journal and a kind, frames
  std::uint64_t steps = 0;    // that have one of them
};

// Each list has the heaviest first.
struct RunWeight {
  std::string recorder;     // "trainwarden", "smdebug"
  std::uint64_t bytes = 0;  // of all files
  std::uint64_t files = 0;
  // What lies directly in the run's folder: "journal", "blackbox", "checkpoints", "run.json".
  std::vector<Weight> places;
  std::vector<Weight> journals;
  // Kinds of frames by their names ("bundle", "statistics"), with their headers; "damaged" is what is none.
  std::vector<Weight> kinds;
  // Of a bundle a tensor's own bytes, of what is stored in columns an equal share for each row.
  std::vector<Weight> tensors;
  // Their tensors together. A tensor of several collections counts in each.
  std::vector<Weight> collections;
};

struct FilesWeight {
  std::uint64_t bytes = 0;
  std::uint64_t files = 0;
};

// Of everything in a folder of `storage`, and in folders in it; links are not followed. kResourceExhausted for more
// files than a run can have.
Result<FilesWeight> weigh_files(const storage::Storage& storage, const std::string& path = "");

// Looks at all headers, and at no value. What is damaged weighs what it takes.
Result<RunWeight> weigh(const storage::Location& run, int threads = 0);

}  // namespace trainwarden::upkeep
