// CaptureChanges: what others ask to have captured while the training goes on, through files in the run's control
// folder or by editing the configuration. The writer thread looks and decides; the training takes what was accepted
// when its next step begins.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/format/capture_events.h"
#include "data/format/control_record.h"
#include "hook/capture/capture_plan.h"
#include "hook/capture/config/config_source.h"
#include "hook/capture/requests/capture_change.h"
#include "hook/capture/requests/control_folder.h"
#include "store/journal/journal_reader.h"
#include "store/storage/storage.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

struct AcceptedChange {
  format::CaptureAnswer answer;  // but for the step
  bool answered = false;         // by an earlier process of this worker: nothing is written to the run again
  CaptureState state;
  std::unique_ptr<CapturePlan> plan;  // of that state
};

class CaptureChanges {
 public:
  // `answered_keys`: of requests that an earlier process of this worker has answered; they still hold. No storage:
  // nobody can ask.
  CaptureChanges(std::shared_ptr<const storage::Storage> storage, const HookOptions& opened,
                 std::set<std::string> answered_keys, std::string run_id = {});

  // Looks for requests that are new, takes them in the order in which they were made, and returns the answers to those
  // that are refused. One thread at a time. `config`: look at the configuration file too.
  std::vector<format::CaptureAnswer> look(bool config);

  // What was accepted since the last time; any_accepted() costs one load. From any thread.
  bool any_accepted() const { return any_accepted_.load(std::memory_order_acquire); }
  std::vector<AcceptedChange> take_accepted();

 private:
  std::vector<format::CaptureRequest> new_requests();
  void look_at_requests(std::vector<format::CaptureAnswer>& refused);
  void look_at_config(std::vector<format::CaptureAnswer>& refused);
  Result<CaptureState> state_with(const std::string& config_text) const;
  bool decide(Result<CaptureState> wanted, format::CaptureAnswer answer, std::vector<format::CaptureAnswer>& refused);

  ControlFolder folder_;
  const std::shared_ptr<const ConfigSource> config_source_;
  const std::set<std::string> answered_keys_;
  const HookOptions opened_;
  HookOptions origin_;  // what a reset goes back to: opened_, with edits of the configuration
  CaptureState now_;    // as accepted last
  ConfigWatch config_;

  std::mutex mutex_;
  std::vector<AcceptedChange> accepted_;  // guarded by mutex_
  std::atomic<bool> any_accepted_ = false;
};

// The keys of the requests that these events answer.
std::set<std::string> answered_capture_keys(std::span<const journal::EventEntry> events);

}  // namespace trainwarden::capture
