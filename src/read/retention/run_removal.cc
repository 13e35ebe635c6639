#include "read/retention/run_removal.h"

#include "read/retention/run_locks.h"

namespace trainwarden::retention {

Status remove_run(const storage::Location& runs, storage::FolderEdits& changes, const std::string& name,
                  const journal::RunInfo& info, const Clock& clock) {
  const storage::Location run = runs.beneath(name);
  const std::string aside = storage::name_while_removed(journal::run_identity(info));
  {
    TRAINWARDEN_ASSIGN_OR_RETURN(const RunLocks locks, lock_run(run.storage(), clock));
    TRAINWARDEN_RETURN_IF_ERROR(journal::check_same_run(run.storage(), info));
    // A copy of a run has its identity: what is left of the other one goes first.
    const auto unfinished = runs.storage().info(aside);
    if (unfinished.ok()) TRAINWARDEN_RETURN_IF_ERROR(finish_removal(runs.storage(), changes, aside));
    TRAINWARDEN_RETURN_IF_ERROR(changes.rename(name, aside));
  }
  return finish_removal(runs.storage(), changes, aside);
}

Result<std::vector<std::string>> unfinished_removals(const storage::Storage& runs) {
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto entries, runs.entries(""));
  std::vector<std::string> names;
  for (const storage::Entry& entry : entries) {
    const bool folder = entry.info.kind == storage::FileInfo::Kind::kFolder;
    if (folder && storage::is_name_while_removed(entry.name)) names.push_back(entry.name);
  }
  return names;
}

Status finish_removal(const storage::Storage& runs, storage::FolderEdits& changes, const std::string& name) {
  return storage::remove_tree(runs, changes, name, journal::kRunFile);
}

}  // namespace trainwarden::retention
