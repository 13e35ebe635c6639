// Families of crafted run folders: in each one thing is wrong, by another amount each time.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace trainwarden::hostile {

struct Crafted {
  std::string name;  // "lengths/payload_bytes=18446744073709551615"
  // Into a folder that has the anchor (crafted_run.h) already.
  std::function<void(const std::filesystem::path& run)> make;
  bool keeps_anchor = true;
};

std::vector<Crafted> crafted_runs();

// One of the golden runs (testdata/golden) with some bytes of one file changed, as `seed` chooses, and with all
// checksums computed anew.
struct Mutated {
  std::string name;
  bool data_only = false;           // nothing but a frame of data was changed: other steps must read as before
  std::vector<std::int64_t> steps;  // whose frames were
  std::filesystem::path golden;     // the run as it was
};
Mutated write_mutated(std::uint64_t seed, const std::filesystem::path& run);
// The same of `golden`, a folder of smdebug's: the records of an event file (with checksums computed anew), an index,
// a manifest, or which files there are.
Mutated write_mutated_smdebug(std::uint64_t seed, const std::filesystem::path& golden,
                              const std::filesystem::path& run);
// Folders of smdebug's to mutate, below `folder`: the golden runs, as smdebug would have written them, and one of two
// workers. Throws.
std::vector<std::filesystem::path> write_smdebug_goldens(const std::filesystem::path& folder);

}  // namespace trainwarden::hostile
