// ExamineRequests: who wants train steps examined for a diagnosis, through files in the run's control folder. The
// writer thread looks; the training takes what is asked for.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "hook/capture/requests/control_folder.h"
#include "store/storage/storage.h"

namespace trainwarden::capture {

class ExamineRequests {
 public:
  // No storage: nobody can ask. A process that goes on with a run reads the requests of the earlier one again, which
  // costs it some looks at its first steps: those are examined anyway.
  explicit ExamineRequests(std::shared_ptr<const storage::Storage> storage, std::string run_id = {});

  // Reads what is new. One thread at a time.
  void look();

  // So many train steps were asked for since the last time, of several requests the most; 0: none. One load where there
  // is none. From any thread.
  std::int64_t take();

 private:
  ControlFolder folder_;
  std::atomic<std::int64_t> steps_ = 0;
};

}  // namespace trainwarden::capture
