// diff_runs(): where two runs differ, tensor by tensor over all steps.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "read/upkeep/value_difference.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

struct DiffQuestion {
  Tolerance tolerance{};
  std::vector<std::string> include{};  // PCRE2, found anywhere in a tensor's name; several: any of them; none: all
  std::int64_t first_step = 0;         // global
  std::int64_t end_step = std::numeric_limits<std::int64_t>::max();  // not in it any more
  bool first_only = false;                                           // ends at the first step at which they differ
  int threads = 0;  // see many_tasks.h; each holds two tensors at a time
  std::function<void(std::size_t done, std::size_t all)> progress{};  // steps; one at a time
};

// One tensor of one worker.
struct TensorDifference {
  std::string tensor;
  std::string worker;
  std::uint64_t compared = 0;       // steps at which both have it
  std::uint64_t differing = 0;      // of them
  std::uint64_t by_statistics = 0;  // of those compared: one of the runs kept no values
  std::uint64_t approximate = 0;    // of those compared: by numbers that one of the runs has rounded
  std::uint64_t only_a = 0;         // steps of both at which only one of the runs has it
  std::uint64_t only_b = 0;
  std::uint64_t unreadable = 0;  // damaged in one of them
  std::int64_t first_step = -1;  // at which it differs, or only one has it
  ValueDifference at_first;      // what it was there, where both have it
  double max_abs = 0;            // over all steps
  double max_rel = 0;
  std::uint64_t max_ulp = 0;
  std::int64_t worst_step = -1;  // of max_abs

  bool differs() const { return differing > 0 || only_a > 0 || only_b > 0; }
};

struct RunDifference {
  std::uint64_t common_steps = 0;          // that were asked for
  std::uint64_t compared_steps = 0;        // fewer with first_only
  std::vector<std::int64_t> steps_only_a;  // global, rising
  std::vector<std::int64_t> steps_only_b;
  std::vector<std::string> tensors_only_a;  // that the other run has at no step
  std::vector<std::string> tensors_only_b;
  std::vector<std::string> workers_only_a;
  std::vector<std::string> workers_only_b;
  // Those that differ come first, by their first step and then as run A first saved them; the others as it saved them.
  std::vector<TensorDifference> tensors;
  std::uint64_t unreadable = 0;  // pairs

  std::int64_t first_step() const;    // at which a tensor differs; -1: none does
  bool same() const;                  // nothing differs, and nothing is in one of them alone
  std::uint64_t approximate() const;  // how many comparisons were, over all tensors
};

// `a` and `b` may be runs of any recorder, also while they are written: what is there is compared. Steps are compared
// side by side. kInvalidArgument for a bad pattern.
Result<RunDifference> diff_runs(const storage::Location& a, const storage::Location& b, const DiffQuestion& question);

}  // namespace trainwarden::upkeep
