// Watch: judges a run with built-in rules and your own, while it is written or after, and can stop the training.
//
//   auto watch = trainwarden::Watch::start(*trial, std::move(rules), {.stop_on_fire = true});
//   while (!watch->run_ended() && !watch->all_decided()) {
//     TRAINWARDEN_RETURN_IF_ERROR(watch->poll());
//     ...  // sleep
//   }
//   watch->finish();
//
// The same engine as `trainwarden watch`: a rule that fails is parked and the others go on; verdicts go into a journal
// of their own in the run's folder.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "trainwarden/export.h"
#include "trainwarden/mode.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden {

// A rule and what it is called in verdicts and journals; of a built-in one, what it was created from.
struct WatchRule {
  RuleSpec spec;
  std::unique_ptr<Rule> rule;
};

struct WatchVerdict {
  std::string rule_id;  // the rule's name; with "-2", "-3" after it when there are several of a kind
  std::int64_t global_step = -1;
  Mode mode = Mode::kGlobal;
  std::int64_t mode_step = -1;
  std::int64_t unix_ns = 0;  // when it was judged
  Verdict verdict;
};

struct WatchRuleStatus {
  std::string rule_id;
  RuleStatus status = RuleStatus::kInProgress;
  std::string details;
  std::array<std::uint64_t, 5> outcomes{};  // steps by Outcome
};

struct WatchOptions {
  bool keep_going = false;     // judge on with a rule that has fired
  bool write_journal = true;   // else nothing is written into the run
  bool stop_on_fire = false;   // ask the training to stop when a rule fires, and wait up to 30 s for its answer
  std::stop_token stop{};      // stops where it is
  std::function<void()> idle;  // called again and again while an action waits
  // For each verdict that fired (repeats are folded) or failed, after it was written down.
  std::function<void(const WatchVerdict&)> on_verdict;
};

// One thread at a time.
class TRAINWARDEN_API Watch {
 public:
  // `trial` must outlive it. A journal that cannot be opened does not keep it from judging: see journal_status(). A
  // folder that another recorder wrote gets none, and kFailedPrecondition when its training is to be stopped.
  static Result<std::unique_ptr<Watch>> start(Trial& trial, std::vector<WatchRule> rules, WatchOptions options = {});
  ~Watch();  // finish()
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  // Refreshes the trial once and judges what is new. The status is the refresh's; kUnavailable passes.
  Status poll();
  // Settles the status of every rule and seals the journal. Idempotent; nothing is judged after it.
  void finish();

  bool run_ended() const;                         // and every step was judged
  bool all_decided() const;                       // no rule would judge another step
  std::int64_t last_judged_step() const;          // global, -1 before the first
  bool stop_requested() const;                    // of the training, because a rule fired
  std::vector<WatchRuleStatus> statuses() const;  // in the order of the rules
  std::vector<WatchVerdict> first_fired() const;  // of each rule that fired, in the same order
  const std::string& journal() const;             // "watch-0"; "" when none is written
  const Status& journal_status() const;           // the first failure to write it

 private:
  class Impl;
  explicit Watch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Where a rule of a run stands, in the words of SageMaker Debugger's rule_job_summary().
struct RuleJobSummary {
  std::string configuration_name;               // RuleConfigurationName: the rule's id
  std::string job_arn;                          // RuleEvaluationJobArn: names this rule on this run
  std::string evaluation_status;                // RuleEvaluationStatus; a rule with nothing to judge is an Error there
  std::optional<std::string> details;           // StatusDetails, at most 1024 bytes; none while in progress
  std::int64_t last_modified_unix_ns = 0;       // LastModifiedTime, of this rule's own last change
  RuleStatus status = RuleStatus::kInProgress;  // in our own words
};

// Of all rules that have judged the run, from what is written in its folder. kNotFound when there is no run.
TRAINWARDEN_API Result<std::vector<RuleJobSummary>> rule_job_summary(const std::filesystem::path& run_dir);

}  // namespace trainwarden
