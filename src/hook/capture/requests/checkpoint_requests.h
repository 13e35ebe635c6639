// CheckpointRequests: who wants the training's state saved, through files in the run's control folder, and what became
// of it. The writer thread looks; the training takes, saves and answers when a step has ended.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "data/format/checkpoint_events.h"
#include "data/format/control_record.h"
#include "hook/capture/requests/control_folder.h"
#include "store/journal/journal_reader.h"
#include "store/storage/storage.h"
#include "trainwarden/hook.h"

namespace trainwarden::capture {

// What earlier processes of this worker made of requests.
struct EarlierCheckpoints {
  std::set<std::string> answered;    // keys: saved or refused
  std::map<std::string, int> begun;  // how often one was accepted, by key
};
EarlierCheckpoints earlier_checkpoints(std::span<const journal::EventEntry> events);

class CheckpointRequests {
 public:
  using Events = std::vector<format::CheckpointEvent>;  // for the run
  static constexpr int kMaxBegun = 2;                   // a process that dies of saving must not do so forever

  // No storage: nobody can ask. `clock` must outlive this.
  CheckpointRequests(std::shared_ptr<const storage::Storage> storage, const HookOptions& options,
                     EarlierCheckpoints earlier, const Clock& clock, std::string run_id = {});

  // Reads what is new, and refuses what nobody will take: once `begun`, the program's first step has ended, and it has
  // had its time to offer. One thread at a time.
  Events look(bool begun, std::int64_t last_step);
  // The training is over: what is not answered will not be.
  Events refuse_rest(std::int64_t last_step);

  // Does a request wait for the training? One load.
  bool any() const { return any_.load(std::memory_order_acquire); }
  void offer();
  // All that wait, as one: the first of them is returned. The events say that they are accepted.
  std::optional<CheckpointRequest> take(std::int64_t last_step, Events& events);
  // Empty: nobody has taken a request of this key, or it was answered.
  Events answer(const std::string& key, const Result<std::filesystem::path>& saved);

  // Absolute, as it was when the hook was opened; empty in a dry run.
  const std::filesystem::path& run_dir() const { return run_dir_; }

 private:
  struct Taken {  // requests that one checkpoint answers
    std::vector<format::CheckpointRequestRecord> requests;
    std::int64_t last_step = -1;
    std::int64_t begin_ns = 0;
  };
  void refuse_waiting(const char* why, std::int64_t last_step, Events& events);

  ControlFolder folder_;
  const std::filesystem::path run_dir_;
  const bool allowed_;
  EarlierCheckpoints earlier_;  // answered: also in this process
  const Clock& clock_;

  std::mutex mutex_;
  std::vector<format::CheckpointRequestRecord> waiting_;  // these three guarded by mutex_
  std::map<std::string, Taken> taken_;                    // by the key of the first
  bool offered_ = false;
  std::atomic<bool> any_ = false;  // offered, and some wait
};

}  // namespace trainwarden::capture
