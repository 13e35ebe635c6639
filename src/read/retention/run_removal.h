// A whole run, removed so that whoever is interrupted, or comes next, can finish it.
#pragma once

#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/journal/run_folder.h"
#include "store/storage/folder_edits.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::retention {

// `changes` are those of the folder `runs`. The run gets another name, by which nobody takes it for a run, while all
// its locks are held; then its files go. kFailedPrecondition, with nothing changed, when somebody writes it by now, or
// when another run has its name.
Status remove_run(const storage::Location& runs, storage::FolderEdits& changes, const std::string& name,
                  const journal::RunInfo& info, const Clock& clock);

// What somebody began to remove and did not finish.
Result<std::vector<std::string>> unfinished_removals(const storage::Storage& runs);
Status finish_removal(const storage::Storage& runs, storage::FolderEdits& changes, const std::string& name);

}  // namespace trainwarden::retention
