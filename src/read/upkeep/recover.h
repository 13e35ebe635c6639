// recover_run(): a clean copy of a run whose files are damaged.
//
// What can still be read is there, in sealed segments; what was lost is said. The original is only read. The copy is a
// run of its own, with an id of its own: two runs that hold different things must not pass for the same (a mirror would
// mix them). Its run.json says which run it was made from, and what is missing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "read/upkeep/journal_copy.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::upkeep {

// A run that is to be read to its end: `verb` is for the message. kFailedPrecondition while it is being written, and
// for a run of another recorder.
Status check_copy_source(const storage::Location& from, std::string_view verb);

struct RecoveredJournal {
  std::string name;  // "rank-00000"; of a deliverer "deliverers/<key>/ledger", of a black box with its folder before it
  CopyTally tally;
};

struct RecoverReport {
  journal::RunInfo info;  // of the copy
  std::string from_id;
  std::vector<RecoveredJournal> journals;
  std::uint64_t files = 0;     // beside journals
  std::vector<CopyNote> lost;  // all of it
  std::vector<CopyNote> mended;
};

struct RecoverPlan {
  storage::Location from;
  std::filesystem::path to;                                 // must not be there; a folder of this machine
  std::function<void(const std::string& path)> progress{};  // what is copied now
};

// kFailedPrecondition while the run is being written, and for a run of another recorder; kAlreadyExists when there is
// something at `to`; kDataLoss when not even the run's id can be found. A process that is killed leaves "TO.unfinished"
// (store/storage/new_folder.h), which the next try removes.
Result<RecoverReport> recover_run(const RecoverPlan& plan, const Clock& clock = system_clock());

}  // namespace trainwarden::upkeep
