// JobRules: a log and a status of each rule that judges the run of a job, in files that stay where they are.
//
//   NAME/rules/RULE.log    a line for each change of its status and each of its alerts, in all attempts
//   NAME/rules/RULE.json   where it stands now
//
// RULE is the rule's id; where that cannot be a file's name, what cannot is replaced and a checksum follows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/storage/location.h"
#include "trainwarden/status.h"
#include "work/jobs/job_state.h"

namespace trainwarden::jobs {

inline constexpr const char* kRuleFolder = "rules";
inline constexpr std::uint64_t kMaxRuleLogBytes = std::uint64_t{1} << 20;
inline constexpr std::size_t kMaxListedRules = 1'000;  // of a folder that anybody may have written

struct JobRule {
  std::string id;                    // as the run has it: "VanishingGradient"
  std::string status;                // name(RuleStatus): "InProgress", "IssuesFound", "NotApplicable"
  std::string details;               // why, for people; empty: nothing is to be said
  std::int64_t changed_unix_ns = 0;  // when its status did
  std::int64_t alerts = 0;           // how often it fired
  std::int64_t step = -1;            // global: at which it fired last; -1: it did not, or not at a step
  std::int64_t newest_unix_ns = 0;   // of the newest event in its log
  bool log_is_full = false;          // what comes is not written there any more
  friend bool operator==(const JobRule&, const JobRule&) = default;
};

// "rules/VanishingGradient.log", in the job's folder.
std::string rule_log_file(std::string_view rule_id);

// "VanishingGradient": the rule's own name in a folder. Two ids never have one name.
std::string rule_file_name(std::string_view rule_id);

// One process writes, any may read. No link is followed.
class JobRules {
 public:
  // `job` is the job's folder. Made with the first rule.
  explicit JobRules(storage::Location job) : job_(std::move(job)) {}

  // kNotFound when nothing was recorded of this rule; kDataLoss when its file is damaged.
  Result<JobRule> read(std::string_view rule_id) const;
  // By id; none when no rule judges it. What is damaged is left out and logged; no more than kMaxListedRules files are
  // looked at.
  Result<std::vector<JobRule>> list() const;
  // The line, which has no end, goes into the rule's log, and then the rule is as it says. After a kill in between the
  // line may be there twice. A log that has reached its limit says so, and gets no more. Errors: the storage's.
  Status record(JobRule& rule, std::string_view line);

 private:
  Status append(JobRule& rule, std::string_view line) const;
  storage::Location job_;
};

// A rule as it stands in a job that stands so: whoever judged has gone with the job, whether it came to say so or not.
JobRule settled_rule(JobRule rule, const Transition& now);

}  // namespace trainwarden::jobs
