// RuleLogs: the events of a job's run that are of its rules, as the log and the status of each (work/jobs/job_rules.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "react/events/event.h"
#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/job_rules.h"

namespace trainwarden::job_events {

// One thread at a time.
class RuleLogs {
 public:
  // `job` is the job's folder. What the processes of earlier attempts have written there is gone on with.
  explicit RuleLogs(storage::Location job) : rules_(std::move(job)) {}

  // Events of the run, in their order and from its first one on: what was taken before, also by an earlier process, is
  // passed over. True when it was of a rule, and new. Of more than jobs::kMaxListedRules rules the rest is left out.
  // Errors: the storage's; what comes next may be taken nevertheless.
  Result<bool> take(const events::Event& event);

  // The program has ended and there is no run: none of these rules was ever asked.
  Status note_no_run(std::span<const std::string> rule_ids, std::int64_t unix_ns);

 private:
  struct Followed {
    jobs::JobRule rule;
    std::int64_t taken_before_ns = 0;  // of the newest event that an earlier process has taken
  };
  Followed* follow(const std::string& rule_id);

  jobs::JobRules rules_;
  std::map<std::string, Followed> followed_;  // by the rule's id
};

// "2026-11-24T00:10:00.125Z  IssuesFound  VanishingGradient found an issue: ...", of a rule's event, without an end.
std::string rule_log_line(const events::Event& event);

}  // namespace trainwarden::job_events
