// AttemptStages: what is done before and after a job's program runs.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "trainwarden/status.h"
#include "work/jobs/allocation.h"

namespace trainwarden::jobs {

// One thread at a time, in this order: fetches(), fetch(), stores(), store().
class AttemptStages {
 public:
  virtual ~AttemptStages() = default;
  // Called several times a second by fetch() and store() where they take long; false: they are to end soon, with
  // kCancelled.
  virtual void set_meanwhile(std::function<bool()>) {}
  virtual bool fetches() const = 0;  // is there something that takes time?
  // Brings what the program needs; returns variables for it. Errors are the job's: it fails with them.
  virtual Result<std::map<std::string, std::string>> fetch(const Allocation& allocation) = 0;
  virtual bool stores() const = 0;
  virtual Status store() = 0;  // after the program's end, in whatever way it ended
  // Why it has failed, as the program itself says; empty when it says nothing.
  virtual std::string failure() const = 0;
};

}  // namespace trainwarden::jobs
