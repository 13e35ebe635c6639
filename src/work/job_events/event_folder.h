// EventFolder: where the events of a folder of jobs lie as soon as somebody subscribes to them. It has what a run with
// a ledger has, so that all that reads the events and deliveries of a run reads these.
//
//   JOBS/.events/run.json              tells its ledger from others
//   JOBS/.events/journal/ledger/       events and what became of them (docs/format/ledger.md)
//   JOBS/.events/control/              requests about dead letters
//   JOBS/.events/jobs/NAME             for each job of which events are still to come, or to be delivered
//   JOBS/.events/deliverer.lock, .lease  held by the process that delivers (deliverer.h)
#pragma once

#include <filesystem>
#include <memory>

#include "core/base/clock.h"
#include "store/journal/run_folder.h"
#include "store/storage/lease.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/job_markers.h"

namespace trainwarden::job_events {

// Many processes may use one at once. Errors: those of the file system.
class EventFolder {
 public:
  // `jobs` is a folder of this machine.
  explicit EventFolder(const std::filesystem::path& jobs);

  const storage::Location& place() const { return place_; }
  std::filesystem::path log() const { return place_.path() / "deliverer.log"; }
  bool exists() const;
  // Makes the folder when it is not there.
  Result<journal::RunInfo> info(const Clock& clock);

  jobs::JobMarkers& markers() { return markers_; }
  const jobs::JobMarkers& markers() const { return markers_; }

  // kAlreadyExists when another process delivers.
  Result<std::unique_ptr<storage::Lease>> take_lease(const Clock& clock);
  bool has_deliverer(const Clock& clock) const;

 private:
  storage::Location place_;
  jobs::JobMarkers markers_;
};

}  // namespace trainwarden::job_events
