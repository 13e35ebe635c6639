// BoxDumper: writes the black box into the run's folder, and knows who asks for that through the control folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "hook/capture/black_box/black_box.h"
#include "hook/capture/black_box/box_files.h"
#include "hook/capture/requests/control_folder.h"
#include "store/storage/storage.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// Steps that wait to be written, and why.
struct BoxDump {
  BoxDump(const BlackBox& held_in, BlackBoxReason why) : box(held_in), reason(std::move(why)) { box.take(snapshot); }
  ~BoxDump() { box.release(snapshot); }
  BoxDump(const BoxDump&) = delete;
  BoxDump& operator=(const BoxDump&) = delete;

  const BlackBox& box;
  const BlackBoxReason reason;
  BoxSnapshot snapshot;
};

class BoxDumper {
 public:
  static constexpr int kMaxDumps = 8;  // of one hook: a rule that fires at every step must not fill the disk

  // No storage: a dry run, in which everything is held and nothing is written. `box` and `clock` must outlive it.
  BoxDumper(std::shared_ptr<storage::Storage> storage, BoxHead head, const BlackBox& box, const Clock& clock);

  const BoxHead& head() const { return head_; }

  // Is this step in a dump that was begun? Rules that fire for one failure want one dump.
  bool has_begun_with(std::int64_t global_step) const;
  // Where it is then; empty when writing it failed.
  std::string written_with(std::int64_t global_step) const;
  // The steps as they are now; nullptr when none is held, or when it was done too often. From any thread.
  std::unique_ptr<BoxDump> begin(const BlackBoxReason& reason);
  // A folder of its own, complete when run.json is there. Its path in the run.
  Result<std::string> write(const BoxDump& dump);
  // The paths of those that are there.
  std::vector<std::string> written() const;
  // What others have asked for since the last time. One thread at a time.
  std::vector<BlackBoxReason> requests();

 private:
  struct Range {
    std::int64_t oldest = 0;
    std::int64_t newest = 0;
    std::string path{};
    bool holds(std::int64_t step) const { return oldest <= step && step <= newest; }
  };
  static Range range_of(const BoxSnapshot& snapshot);
  Result<std::string> make_folder(std::int64_t step);

  const std::shared_ptr<storage::Storage> storage_;
  const BoxHead head_;
  const BlackBox& box_;
  const Clock& clock_;
  ControlFolder control_;
  std::atomic<int> begun_ = 0;
  mutable std::mutex mutex_;
  std::vector<Range> begun_ranges_;  // these two guarded by mutex_
  std::vector<Range> written_;
};

// The event that is written to the run: {"type": "black_box", "path", "error", "kind", "message", "rule", "key",
// "failing_step"}; "error" is empty when the dump is at "path".
std::string encode_black_box_event(const BlackBoxReason& reason, const Result<std::string>& path);

}  // namespace trainwarden::capture
