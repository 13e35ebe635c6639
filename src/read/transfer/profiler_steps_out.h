// The steps of a run's workers, their phases and operator calls, as timelines of smdebug's.
#pragma once

#include <memory>

#include "read/transfer/output_file.h"
#include "read/transfer/profiler_export.h"

namespace trainwarden::transfer {

// Adds to steps, calls and what was left out.
Status write_timelines(Trial& trial, const ProfilerExportOptions& options, OutputTally& tally,
                       ProfilerExportReport& report);

}  // namespace trainwarden::transfer
