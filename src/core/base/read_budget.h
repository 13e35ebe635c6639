// ReadBudget: what reading one run may cost, whoever made its files.
//
// A run folder is untrusted input. What its files occupy on the disk earns an allowance, so that an honest run is read
// however long it is, while a small one cannot take the machine's memory and time by repeating the same again and
// again, by lengths that nothing stands behind, or by holes. The table is in docs/reference/limits.md.
#pragma once

#include <cstdint>
#include <string_view>

#include "trainwarden/status.h"

namespace trainwarden {

// What any run may cost, and what each byte that its files occupy adds to it.
struct Allowance {
  std::uint64_t base = 0;
  std::uint64_t per_stored_byte = 0;
  std::uint64_t of(std::uint64_t stored_bytes) const;
};

struct ReadLimits {
  Allowance held_bytes{std::uint64_t{64} << 20, 16};   // in memory, of all that is known of the run once it is open
  Allowance whole_bytes{std::uint64_t{32} << 20, 64};  // of one payload or value that is read into memory
  Allowance scanned_bytes{std::uint64_t{1} << 30, 4};  // read unasked: words, what lies behind damage, by `doctor`
  std::uint64_t pattern_searches = 10'000'000;         // of a collection's pattern in a tensor's name
  std::uint64_t pattern_cpu_ns = 2'000'000'000;        // of these searches
  std::uint64_t json_values = 2'000'000;               // in one document
};
// The defaults, times what the environment says.
const ReadLimits& read_limits();
// `factor` as the variable has it: a number above 0. kInvalidArgument otherwise.
Result<ReadLimits> scaled_read_limits(std::string_view factor);

// What a reader says about a limit: "..., which is more than the 32.0 MiB allowed; if you trust the run, set ...".
Status over_read_budget(std::string_view what, std::string_view found, std::string_view allowed);

// Of one run. One thread at a time. Errors are kResourceExhausted; nothing is spent then.
class ReadBudget {
 public:
  explicit ReadBudget(const ReadLimits& limits = read_limits()) : limits_(limits) {}

  // More of the run's files were found; the bytes that they occupy, which holes do not.
  void earn(std::uint64_t stored_bytes) { stored_bytes_ += stored_bytes; }

  Status hold(std::uint64_t bytes, std::string_view what);
  void release(std::uint64_t bytes) { held_bytes_ -= bytes; }  // what was held is held no more
  Status scan(std::uint64_t bytes, std::string_view what);
  // May so much of a file that occupies `stored_bytes` be read into memory as a whole?
  Status check_whole(std::uint64_t bytes, std::uint64_t stored_bytes, std::string_view what) const;
  Status search_patterns(std::uint64_t count, std::string_view what);
  Status search_patterns_for(std::uint64_t cpu_ns, std::string_view what);

 private:
  const ReadLimits limits_;
  std::uint64_t stored_bytes_ = 0;
  std::uint64_t held_bytes_ = 0;
  std::uint64_t scanned_bytes_ = 0;
  std::uint64_t pattern_searches_ = 0;
  std::uint64_t pattern_cpu_ns_ = 0;
};

}  // namespace trainwarden
