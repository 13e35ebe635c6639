// Worker processes: the processes of a training on this machine, known by the locks that they hold.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::actions {

// A worker whose journal some process has locked right now.
struct LivingWorker {
  std::string name;                     // "rank-00000"
  std::optional<std::int64_t> process;  // that holds the lock; none when it is not one of this machine
};

std::vector<LivingWorker> living_workers(const storage::Storage& run_storage);

// Sends the signal to the worker's process, provided that it holds the lock at that very moment: an id that has been
// given to another process since is never signalled. kNotFound when it has ended or is not here, kFailedPrecondition
// when it is this process itself, kPermissionDenied when it is another user's.
Status signal_worker(const storage::Storage& run_storage, const LivingWorker& worker, int signal_number);

}  // namespace trainwarden::actions
