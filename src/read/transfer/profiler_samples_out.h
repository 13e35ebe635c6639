// The samples of a run's machines as SageMaker has them: a line for each value, a file for each minute and machine.
#pragma once

#include <cstdint>

#include "read/transfer/output_file.h"
#include "read/transfer/profiler_export.h"

namespace trainwarden::transfer {

// Returns how many samples were written.
Result<std::uint64_t> write_machine_samples(Trial& trial, const ProfilerExportOptions& options, OutputTally& tally);

}  // namespace trainwarden::transfer
