// Printed metrics: what was found in a run's output, value by value, with the steps that were printed beside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "trainwarden/metric.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::trial {

struct PrintedValue {
  std::int64_t unix_ns = 0;  // when it was read
  double value = 0;
  std::optional<std::int64_t> step;
};

// Who has crafted a run may have put more metrics into it than whoever looks at them could bear.
inline constexpr std::size_t kMaxPrintedMetrics = 4096;

// A machine's sampler wrote it: nobody printed it.
bool is_of_machine(const SampledMetric& metric);

// In the order of their definitions, or in which they were first found; of several workers' outputs by rank. Those
// beyond the limit are left out.
std::vector<SampledMetric> printed_metrics(const Trial& trial);

// Those in [from_unix_ns, to_unix_ns), by rising time. Errors as Trial::samples().
Result<std::vector<PrintedValue>> printed_values(Trial& trial, const SampledMetric& metric,
                                                 std::int64_t from_unix_ns = std::numeric_limits<std::int64_t>::min(),
                                                 std::int64_t to_unix_ns = std::numeric_limits<std::int64_t>::max());

// The newest value of each, of the first `most` metrics.
struct LastPrinted {
  SampledMetric metric;
  PrintedValue value;
};
Result<std::vector<LastPrinted>> last_printed(Trial& trial, std::size_t most);

}  // namespace trainwarden::trial
