// EventCollector: puts what happens to jobs and in their runs into one ledger, each event once: by its id it is known
// whether it was taken in, so that whoever goes on after a kill neither loses one nor doubles one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "react/events/ledger.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/job_events/job_event.h"
#include "work/job_events/run_ledger.h"
#include "work/jobs/job_record.h"

namespace trainwarden::job_events {

// One thread at a time.
class EventCollector {
 public:
  // `ledger` must outlive it.
  EventCollector(storage::Location jobs, events::Ledger& ledger);

  // Takes in what is new of this job. True when nothing more can come of it: it has ended, nobody writes its run's
  // ledger, and all is taken in. kNotFound when there is no such job.
  Result<bool> collect(const std::string& job);
  // It is looked at anew when it is asked for again.
  void forget(const std::string& job) { followed_.erase(job); }

 private:
  struct Followed {
    explicit Followed(jobs::JobRecord opened);
    bool has_ended() const;  // as far as it was looked at
    jobs::JobRecord record;
    JobEventMaker maker;
    RunLedger run;
    std::vector<jobs::Transition> transitions;  // that were looked at
  };

  Result<Followed*> follow(const std::string& job);
  Status take_transitions(Followed& job);
  Status take_run(Followed& job);
  void take(events::Event event);

  const storage::Location jobs_;
  events::Ledger& ledger_;
  std::map<std::string, std::unique_ptr<Followed>> followed_;
  std::map<std::string, std::set<std::uint64_t>> taken_;  // numbers, by the rest of the ids
};

}  // namespace trainwarden::job_events
