// StopRequests: what others have asked of this training through files in the run's control folder.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/format/control_record.h"
#include "hook/capture/requests/control_folder.h"
#include "store/journal/journal_reader.h"
#include "store/storage/storage.h"

namespace trainwarden::capture {

// One thread at a time.
class StopRequests {
 public:
  // `accepted_keys` are those that an earlier process of this run has acted on. No storage: nobody can ask.
  StopRequests(std::shared_ptr<const storage::Storage> storage, std::set<std::string> accepted_keys,
               std::string run_id = {});

  // The requests that were not there before. A file that is none is logged once and passed over.
  std::vector<format::StopRequest> poll();

 private:
  ControlFolder folder_;
  std::set<std::string> accepted_keys_;
};

// The event with which a worker says that it will stop: {"type": "stop_accepted", "key", "reason", "requested_by",
// "global_step"}, the step being the one at which the training was when it learned of it.
std::string encode_stop_accepted(const format::StopRequest& request, std::int64_t global_step);

// The keys of all such events.
std::set<std::string> accepted_stop_keys(std::span<const journal::EventEntry> events);

}  // namespace trainwarden::capture
