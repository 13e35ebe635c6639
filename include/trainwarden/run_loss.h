// RunLoss: something that is missing from a run, and why.
#pragma once

#include <cstdint>
#include <string>

namespace trainwarden {

// What could not be read, or was not kept by the writer.
struct RunLoss {
  std::string where;  // "journal/rank-00000/seg-00000001.tw at byte 4096"
  std::string cause;  // "damaged payload", "torn tail", "missing frames", "staging_full", ...
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
  bool by_writer = false;  // true: never reached the run; false: damaged or missing in the run's files
};

}  // namespace trainwarden
