// What has to be known of a run before it may be removed or thinned out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "store/journal/run_folder.h"
#include "store/storage/location.h"

namespace trainwarden::retention {

// What was changed in the last ten minutes is left alone: its training may have just ended, or be about to go on.
inline constexpr std::int64_t kQuietNs = 600'000'000'000;

struct StoredRun {
  std::string name;
  journal::RunInfo info;
  std::uint64_t bytes = 0;           // of all its files
  std::int64_t changed_unix_ns = 0;  // the newest of them
  std::string stays;                 // why nothing of it may be changed; empty: it may
  std::string is_not_removed;        // why it may be thinned out, and no more
};

// Who writes the run now, for all that can be seen: "rank-00000 is being written"; empty: nobody.
std::string who_writes(const storage::Storage& run, const Clock& clock);
// The same for who is about to change it: also by the clock of the storage, since this machine's may have jumped
// (storage::may_be_leased). An error: nothing shows that nobody does.
Result<std::string> who_may_write(storage::Storage& run, const Clock& clock);

// Of the folder `name` in `runs`. Nothing when no run of ours lies there: smdebug's, other folders, and links, which
// are their user's own.
std::optional<StoredRun> look_at_run(const storage::Location& runs, const storage::Entry& entry, const Clock& clock);

// Of all files below `path`, links not followed.
std::uint64_t bytes_below(const storage::Storage& storage, const std::string& path);

}  // namespace trainwarden::retention
