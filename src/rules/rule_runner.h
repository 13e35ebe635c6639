// RuleRunner: one rule over a whole run: its verdicts step by step, where it stands, and what of that is news.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "rules/verdict_record.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// What is worth writing down after a step. All empty for most steps.
struct RuleNews {
  std::optional<RepeatsRecord> repeats;    // of verdicts before this step
  std::optional<VerdictRecord> verdict;    // fired or failed
  std::optional<RuleStatusRecord> status;  // it changed
};

// How the run ended, or did not, when the rule stops.
enum class RunnerEnd { kRunEnded, kEngineStopped };

// One thread at a time.
class RuleRunner {
 public:
  // `keep_going`: judge on after it fired. Then verdicts that fire one after the other, without an `ok` between them,
  // are told once and counted.
  RuleRunner(std::string id, RuleSpec spec, std::unique_ptr<Rule> rule, bool keep_going);

  // False when it has fired or failed for good.
  bool active() const;
  // Judges the step. A rule that throws has failed.
  RuleNews judge(Trial& trial, std::int64_t global_step, std::int64_t now_unix_ns);
  RuleNews end(RunnerEnd end, std::int64_t now_unix_ns);

  // Where it stands, as of the last call.
  RuleStatusRecord status(std::int64_t now_unix_ns) const;
  const std::optional<VerdictRecord>& first_fired() const { return first_fired_; }

 private:
  struct Streak {
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    std::uint64_t repeats = 0;
  };

  Verdict evaluate(Trial& trial, std::int64_t global_step);
  void take_fired(const VerdictRecord& record, RuleNews& news);
  std::optional<RepeatsRecord> end_streak(std::int64_t now_unix_ns);
  void settle(RunnerEnd end);
  bool change_status(RuleStatus status, std::string details);
  std::string progress_text() const;
  std::string nothing_found_text() const;
  std::uint64_t steps_with(Outcome outcome) const { return outcomes_[static_cast<std::size_t>(outcome)]; }
  std::uint64_t judged_steps() const;

  const std::string id_;
  const RuleSpec spec_;
  const std::unique_ptr<Rule> rule_;
  const bool keep_going_;
  RuleStatus status_ = RuleStatus::kInProgress;
  std::string details_;
  OutcomeCounts outcomes_{};
  std::string last_excuse_;  // the message of the last not_applicable or insufficient_data
  std::optional<Streak> streak_;
  std::optional<VerdictRecord> first_fired_;
};

}  // namespace trainwarden::rules
