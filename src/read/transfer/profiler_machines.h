// Profiler machines: SageMaker's samples of a machine as samples of ours.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "read/transfer/profiler_folder.h"
#include "store/journal/journal_writer.h"
#include "trainwarden/metric.h"

namespace trainwarden::foreign {
struct SmdebugSample;
}

namespace trainwarden::transfer {

struct MachineTally {
  std::uint64_t samples = 0;
  std::uint64_t damaged_lines = 0;
  std::uint64_t unreadable_files = 0;
  std::uint64_t left_out = 0;      // samples of more metrics than a machine could have
  std::int64_t first_unix_ns = 0;  // 0: no sample
  std::int64_t last_unix_ns = 0;
};

// The metric that a sample is of, and the number that a value of 1 is in its unit. docs/reference/export.md has them.
struct ImportedMetric {
  Metric metric;
  double unit = 1;
};
ImportedMetric imported_metric(const foreign::SmdebugSample& sample);

// The files of one node, in their order, into a journal. What cannot be read of them is counted; errors are those of
// the journal.
Result<MachineTally> import_machine(const storage::Storage& source, std::span<const ProfilerFile> files,
                                    journal::JournalWriter& journal);

}  // namespace trainwarden::transfer
