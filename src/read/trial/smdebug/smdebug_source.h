// The source of a run that smdebug wrote: its manifests, its index files and the marker at its end.
//
// Nobody holds a lock in such a folder. Until the marker is there the run counts as running and each of its workers as
// alive: whoever looks at it can be shown how old its newest step is, and no more.
#pragma once

#include <memory>

#include "read/trial/run_source.h"

namespace trainwarden::trial {

// Is there anything of such a run in the folder?
bool holds_smdebug_run(const storage::Storage& storage);

Result<std::unique_ptr<RunSource>> open_smdebug_source(std::shared_ptr<const storage::Storage> storage,
                                                       std::shared_ptr<ReadBudget> budget);

}  // namespace trainwarden::trial
