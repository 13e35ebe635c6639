// SpaceKeeper: keeps a run within its bytes, and the disk from becoming full, by leaving out of a step what there is no
// room for: whole values first, whose statistics are kept; then statistics too; losses and other scalars last. What the
// run says in words (events, verdicts, what was lost) has a part of its own and always fits.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/clock.h"
#include "hook/capture/staging/staged_step.h"
#include "hook/capture/writing/loss_tally.h"
#include "store/storage/disk_space.h"

namespace trainwarden::capture {

struct SpaceLimits {
  std::uint64_t run_bytes = 0;   // of all journals of the run together; 0: no limit
  std::uint64_t free_bytes = 0;  // that the disk is to keep; 0: it may become full
};
// As the options have it: a default is at most a twentieth of the disk.
std::uint64_t kept_free(std::uint64_t wanted, bool is_default, const storage::DiskSpace& disk);

// What a step may keep, the most first.
enum class Room { kAll, kStatistics, kScalars, kNothing };

// One thread at a time: the one that writes.
class SpaceKeeper {
 public:
  struct Look {
    std::uint64_t run_bytes = 0;              // of all that was written of the run
    std::optional<std::uint64_t> free_bytes;  // nothing: not known
  };
  using Measure = std::function<Look()>;

  SpaceKeeper(const SpaceLimits& limits, Measure measure, const Clock& clock)
      : limits_(limits), measure_(std::move(measure)), clock_(clock) {}

  // Takes out of `step` what there is no room for, and counts that among its losses and `losses`. `written_bytes`: by
  // this worker so far. False: nothing of the step may be written.
  bool fit(StagedStep& step, std::uint64_t written_bytes, SharedLossTally& losses);

 private:
  void look(std::uint64_t written_bytes);
  Room room_for(std::uint64_t step_bytes) const;
  Room room_in_run(std::uint64_t step_bytes) const;
  Room room_on_disk(std::uint64_t step_bytes) const;
  void report(Room room);

  const SpaceLimits limits_;
  const Measure measure_;
  const Clock& clock_;
  Look seen_;
  std::uint64_t written_when_seen_ = 0;
  std::optional<std::int64_t> seen_ns_;
  std::uint64_t since_bytes_ = 0;  // written by this worker since then
  Room told_ = Room::kAll;
};

}  // namespace trainwarden::capture
