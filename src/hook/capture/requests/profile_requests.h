// ProfileRequests: who wants to know which operators run, through files in the run's control folder. The writer thread
// looks; the training takes what is asked for when a step begins.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "data/format/control_record.h"
#include "data/format/profile_events.h"
#include "hook/capture/requests/control_folder.h"
#include "store/journal/journal_reader.h"
#include "store/storage/storage.h"

namespace trainwarden::capture {

class ProfileRequests {
 public:
  // `answered_keys`: of requests that an earlier process of this worker has heard of. No storage: nobody can ask.
  ProfileRequests(std::shared_ptr<const storage::Storage> storage, std::set<std::string> answered_keys,
                  std::string run_id = {});

  // Reads what is new. One thread at a time.
  void look();

  // What was asked for since the last time, as the events that accept it: first_step is the one that is wanted.
  // any_accepted() costs one load. From any thread.
  bool any_accepted() const { return any_accepted_.load(std::memory_order_acquire); }
  std::vector<format::ProfileEvent> take_accepted();

 private:
  ControlFolder folder_;
  std::set<std::string> answered_keys_;

  std::mutex mutex_;
  std::vector<format::ProfileEvent> accepted_;  // guarded by mutex_
  std::atomic<bool> any_accepted_ = false;
};

// The keys of the requests that these events answer.
std::set<std::string> answered_profile_keys(std::span<const journal::EventEntry> events);

}  // namespace trainwarden::capture
