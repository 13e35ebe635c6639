// The journal of one worker of another program, written as one of ours.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "read/trial/worker_journal.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/collection.h"
#include "trainwarden/status.h"

namespace trainwarden::transfer {

// Where the journal goes.
struct JournalPlace {
  storage::Storage& storage;
  const journal::RunInfo& run;
  int rank;
  const std::vector<Collection>& collections;
};

struct ImportTally {
  std::uint64_t steps = 0;
  std::uint64_t records = 0;     // that were read
  std::uint64_t unreadable = 0;  // records, or steps of which not even the records are known
};

// Those of `steps` (global, rising) that the worker has, with the times at which they were recorded, and a run end.
// What is damaged in the source is a loss of the step.
Result<ImportTally> import_journal(trial::WorkerJournal& source, std::span<const std::int64_t> steps,
                                   const JournalPlace& place);

}  // namespace trainwarden::transfer
