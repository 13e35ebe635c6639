// Lease: the right to write something, and word that its holder lives.
//
// A lock shows at once that a process has died, but only where locks work: one machine, or a file system that shares
// them between machines. So a holder also leaves a small file that promises when it will be renewed at the latest. Who
// sees the lock held, or a promise of a process whose lock cannot be seen from here, takes the holder for alive.
//
// The file is described in docs/format/run_folder.md. Who only looks believes its machine's clock, and clocks of
// machines are expected to differ by less than kLeaseSlackNs. Clocks jump, though. So who would do harm by taking a
// holder for dead that lives, because it writes or removes itself, asks the storage's clock as well: it writes a file
// beside the lease and compares the times that the storage gave the two.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "store/storage/storage.h"
#include "trainwarden/status.h"

namespace trainwarden::storage {

inline constexpr std::int64_t kLeaseBeatNs = 10'000'000'000;     // it is renewed so often
inline constexpr std::int64_t kLeasePromiseNs = 60'000'000'000;  // and at the latest after this
inline constexpr std::int64_t kLeaseSlackNs = 5'000'000'000;

// One thread at a time.
class Lease {
 public:
  virtual ~Lease() = default;  // frees the lock; the promise is left to run out
  // Renews the promise when that is due; a glance at the lock when it is not, which is taken again where the program
  // has closed its descriptor. Where a lock is held as well, a failure is of no consequence on this machine.
  // kAlreadyExists, from then on: another process has it and lives. There is no lock then, or it was lost, and this
  // process was taken for dead, as one is that was stopped for minutes: it must write nothing more.
  virtual Status beat() = 0;
  // Takes the promise back: nothing more is to come. beat() makes a new one.
  virtual Status end() = 0;
};

// `path` has no ending: "journal/rank-00003/writer" locks "writer.lock" and promises in "writer.lease" beside it. Its
// folder must be there, and `storage` and `clock` must outlive the lease. kAlreadyExists when another process holds it.
Result<std::unique_ptr<Lease>> take_lease(Storage& storage, const std::string& path, const Clock& clock);

// Does anybody hold it, as far as can be seen from here?
bool is_leased(const Storage& storage, const std::string& path, const Clock& clock = system_clock());

// The same for who would change what its holder writes. Also true when the storage's clock says that the promise was
// made a moment ago. Writes "journal/rank-00003/writer.now.tmp" when that has to be asked.
Result<bool> may_be_leased(Storage& storage, const std::string& path, const Clock& clock);

// What its holder has written last.
struct LeaseSign {
  std::int64_t pid = 0;  // on the holder's machine; these are 0 when they are not known
  std::int64_t renewed_unix_ns = 0;
  std::int64_t next_unix_ns = 0;  // when it is renewed at the latest
};
// Nothing when nobody holds it, or what its holder has written cannot be read.
std::optional<LeaseSign> sign_of_life(const Storage& storage, const std::string& path,
                                      const Clock& clock = system_clock());

std::string lock_of_lease(const std::string& path);  // "journal/rank-00003/writer.lock"

}  // namespace trainwarden::storage
