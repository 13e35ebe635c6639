// TensorSeries: one number of a tensor at each step of a worker, read in one go.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/large_memory.h"
#include "read/trial/worker_journal.h"
#include "trainwarden/mode.h"
#include "trainwarden/reduction.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::trial {

// Which number.
struct SeriesNumber {
  enum class Kind : std::uint8_t {
    kScalar,     // a scalar, or the only element of a value
    kReduction,  // saved alone, else from the statistics, else from the value or scalar
    kNanCount,   // of elements, from statistics, value or scalar
    kInfCount,
    kZeroCount,
  };
  Kind kind = Kind::kScalar;
  Reduction reduction = Reduction::kMean;
  bool abs = false;
  friend auto operator<=>(const SeriesNumber&, const SeriesNumber&) = default;
};

// "scalar", "mean", "abs_max", "nan_count", ...; kInvalidArgument with all there are.
Result<SeriesNumber> parse_series_number(std::string_view text);
std::string name(const SeriesNumber& number);

struct SeriesPoint {
  std::int64_t global_step = 0;
  std::int64_t unix_ns = 0;  // when the worker ended the step, 0 when that is not known
  Mode mode = Mode::kGlobal;
  double value = 0;
};

struct SeriesPart {
  std::vector<SeriesPoint, LargeAllocator<SeriesPoint>> points;  // in the order of writing: a repeated step comes again
  std::size_t next = 0;                                          // where the part after this one begins
  std::size_t left = 0;                                          // how many steps that have the tensor were left for it
  std::uint64_t unreadable = 0;                                  // steps whose bytes are damaged
};

// Steps after `last_step` are left out. Reads until all is read or `patience` is over, but at least one step. Steps
// that hold the tensor in no form that gives the number are passed over.
Result<SeriesPart> read_series(WorkerJournal& journal, std::uint32_t tensor, const SeriesNumber& number,
                               std::size_t first, std::int64_t last_step, std::chrono::nanoseconds patience);

}  // namespace trainwarden::trial
