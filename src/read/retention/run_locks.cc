#include "read/retention/run_locks.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "read/retention/stored_run.h"
#include "store/journal/run_folder.h"

namespace trainwarden::retention {

// First the locks, then the look: who comes between sees a lock that is held, and what was there before is seen.
Result<RunLocks> lock_run(storage::Storage& run, const Clock& clock) {
  RunLocks locks;
  TRAINWARDEN_ASSIGN_OR_RETURN(const auto writers, journal::list_journals(run));
  const auto is_written = [&](const std::string& who) {
    return Status(Code::kFailedPrecondition, fmt::format("{}: {}; nothing of it was changed", run.describe(""), who));
  };
  TRAINWARDEN_ASSIGN_OR_RETURN(const std::string who, who_may_write(run, clock));
  if (!who.empty()) return is_written(who);
  for (const std::string& writer : writers) {
    auto lock = run.lock(journal::writer_lock(writer));
    if (lock.status().code() == Code::kAlreadyExists) return is_written(writer + " is being written");
    TRAINWARDEN_RETURN_IF_ERROR(lock.status());
    locks.push_back(std::move(*lock));
  }
  return locks;
}

}  // namespace trainwarden::retention
