// Which files of a job are brought from its host, and how. Both ends ask this: a host is trusted with its job's files
// and with nothing else of this machine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"

namespace trainwarden::ssh {

enum class MirrorWay : std::uint8_t {
  kNever,     // sources, environment, checkpoints, locks: they stay on the host
  kOnce,      // a transition: written once, and never again
  kAppended,  // a log, a segment of a journal: what is there stays
  kWhole,     // all else: another file when its size or its time is another
};
// Of "job/..." (its folder) or "run/..." (that of its run).
MirrorWay way_of(std::string_view path);

struct MirroredFile {
  std::string path;  // "job/state/000002.json"
  std::uint64_t bytes = 0;
  std::int64_t time_unix_ns = 0;  // of its last change
};

struct MirroredFolders {
  storage::Location job;
  storage::Location run;
};

// Those that are there now: transitions first, so that who sends them last knows that all which they tell of has been
// listed. Links are left out. kResourceExhausted when there are more than 200,000.
Result<std::vector<MirroredFile>> list_mirrored(const MirroredFolders& folders);

// Where a path lies.
struct MirroredPlace {
  const storage::Location* folder;
  std::string path;  // in it
};
MirroredPlace place_of(const MirroredFolders& folders, std::string_view path);

}  // namespace trainwarden::ssh
