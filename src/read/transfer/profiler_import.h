// Profiler import: a folder of SageMaker's profiler as a run of ours.
#pragma once

#include <map>
#include <string>

#include "read/transfer/profiler_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"
#include "trainwarden/transfer.h"

namespace trainwarden::transfer {

// Where the folder is: its storage, and what of it is the profiler's.
struct ProfilerPlace {
  const storage::Storage& storage;
  std::string root;  // "" or "profiler-output"
};

// Writes run.json and all journals into `target`, which is empty. `labels`: what else is known of the run. kNotFound
// when the folder holds nothing that can be read.
Result<ImportReport> import_profiler(const ProfilerPlace& source, std::map<std::string, std::string> labels,
                                     storage::Storage& target);

// A timeline that Horovod writes (HOROVOD_TIMELINE), by the name of its first operation. False for what cannot be read.
bool is_horovod_timeline(const storage::Storage& storage, const std::string& path);
// Writes what it holds as one step of one worker. Horovod may go on writing it: then what is there by now is read.
Result<ImportReport> import_horovod_timeline(const storage::Storage& storage, const std::string& path,
                                             std::map<std::string, std::string> labels, storage::Storage& target);

}  // namespace trainwarden::transfer
