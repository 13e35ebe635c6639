// JobQueue: which jobs of this machine have not ended, so that nobody has to look at all that ever were.
//
//   JOBS/.queue/HOST/jobs/NAME          an empty file for each; made before the job is, removed when it has ended
//   JOBS/.queue/HOST/limits.json        what all jobs together may use, where it is less than the machine has
//   JOBS/.queue/HOST/waiting.json       why each waits, for people
//   JOBS/.queue/HOST/keeper.lock, .lease  held by the process that starts them (keeper.h)
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "store/storage/lease.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/job_markers.h"
#include "work/queue/placing.h"

namespace trainwarden::queue {

// What of a machine all jobs together may use; nothing: all that it has.
struct QueueLimits {
  std::optional<std::int64_t> cpus;
  std::optional<std::int64_t> gpus;
  std::optional<std::uint64_t> memory_bytes;
  std::string control_group;  // in which they run (work/jobs/control_group.h); empty: in none of their own
  friend bool operator==(const QueueLimits&, const QueueLimits&) = default;
};

std::string this_host();  // its name

// What is left of the machine under the limits.
Capacity limited(Capacity machine, const QueueLimits& limits);

// Many processes may use one at once. Errors: those of the file system.
class JobQueue {
 public:
  // `jobs` is a folder of this machine.
  JobQueue(const std::filesystem::path& jobs, const std::string& host);

  // As those of JobMarkers.
  Status enter(const std::string& job) { return markers_.enter(job); }
  Status leave(const std::string& job) { return markers_.leave(job); }
  Result<std::vector<std::string>> names() const { return markers_.names(); }
  std::optional<std::int64_t> entered_unix_ns(const std::string& job) const { return markers_.entered_unix_ns(job); }

  Result<QueueLimits> limits() const;  // kDataLoss when the file is none
  Status set_limits(const QueueLimits& limits);

  // By name; a text for people. Nothing is said of a job that does not wait.
  std::map<std::string, std::string> reasons() const;
  Status set_reasons(const std::map<std::string, std::string>& reasons);

  Result<std::unique_ptr<storage::Lease>> take_keeper_lease(const Clock& clock);
  bool has_keeper(const Clock& clock) const;

 private:
  storage::Location place_;
  jobs::JobMarkers markers_;
};

}  // namespace trainwarden::queue
