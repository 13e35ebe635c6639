// The journal of an engine: journal/watch-0, or the next one that no other engine writes.
#pragma once

#include <memory>
#include <string>

#include "core/base/clock.h"
#include "store/journal/journal_writer.h"
#include "store/journal/run_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

// One engine on a run is usual, a handful conceivable.
inline constexpr int kMaxWatchJournals = 1000;

struct WatchJournal {
  std::string name;  // "watch-0"
  std::unique_ptr<journal::JournalWriter> writer;
};

// An engine that starts again goes on in the journal of one that is gone. kPermissionDenied, kResourceExhausted from
// the storage; kResourceExhausted when there are kMaxWatchJournals living engines.
Result<WatchJournal> open_watch_journal(storage::Storage& storage, const Clock& clock, const journal::RunInfo& run);

}  // namespace trainwarden::rules
