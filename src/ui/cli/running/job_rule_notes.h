// JobRuleNotes: what becomes of the rules of a job, in a log of each, and in a few lines for the job's own log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "react/events/event.h"
#include "work/job_events/rule_log.h"

namespace trainwarden::cli {

// One thread at a time. What cannot be written is a warning, once: the run's events have it all the same.
class JobRuleNotes {
 public:
  explicit JobRuleNotes(const std::filesystem::path& job);

  void take(const events::Event& event);  // as job_events::RuleLogs
  void note_no_run(std::span<const std::string> rule_ids, std::int64_t unix_ns);

  // What is new since the last call: "trainwarden: rules InProgress: LossSpike, VanishingGradient".
  std::vector<std::string> new_lines();

 private:
  void warn(const Status& status);

  const std::string job_;  // its name
  job_events::RuleLogs logs_;
  std::map<std::string, std::vector<std::string>> changed_;  // rules by the status that they have come to
  bool has_said_where_ = false;
  bool has_warned_ = false;
};

}  // namespace trainwarden::cli
