// Requests to the training of a run, wherever the run lies: what trainwarden/control.h offers for folders.
#pragma once

#include "store/storage/location.h"
#include "trainwarden/control.h"
#include "trainwarden/status.h"

namespace trainwarden::watch {

// As request_stop() and request_save().
Result<StopAnswer> stop_run(const storage::Location& run, const StopRequestOptions& options);
Result<SaveAnswer> save_run(const storage::Location& run, const SaveRequestOptions& options);

}  // namespace trainwarden::watch
