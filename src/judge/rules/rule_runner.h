// RuleRunner: one rule over a whole run: its verdicts on steps and windows of time, where it stands, and what of that
// is news.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "judge/rules/verdict_record.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

// What is worth writing down after a step or window. All empty for most of them.
struct RuleNews {
  std::optional<RepeatsRecord> repeats;    // of verdicts before this one
  std::optional<VerdictRecord> verdict;    // fired or failed
  std::optional<RuleStatusRecord> status;  // it changed
  std::string examine_reason{};            // as in Verdict
};

// How the run ended, or did not, when the rule stops.
enum class RunnerEnd { kRunEnded, kEngineStopped };

// One thread at a time.
class RuleRunner {
 public:
  // `keep_going`: judge on after it fired. Then verdicts that fire one after the other, without an `ok` between them,
  // are reported once and counted; one that is graver than those before is reported again. A note (severity info) does
  // not end the judging and is no issue.
  RuleRunner(std::string id, RuleSpec spec, std::unique_ptr<Rule> rule, bool keep_going);

  const std::string& id() const { return id_; }
  const RuleSpec& spec() const { return spec_; }
  const Rule& rule() const { return *rule_; }
  const std::optional<TimeSchedule>& schedule() const { return schedule_; }
  // False when it has fired or failed for good.
  bool active() const;
  // The last verdict that fired and was more than a note; -1 when there is none.
  std::int64_t last_fired_step() const { return last_fired_step_; }

  // Judges the step. A rule that throws has failed.
  RuleNews judge(const StepWindow& window, std::int64_t now_unix_ns);
  // Of its schedule(). That a rule without metrics has nothing to say is no answer: the clock asks it all the time.
  RuleNews judge_time(const TimeWindow& window, std::int64_t now_unix_ns);
  // The run has ended; `last` is the last step that was judged. News where it is in progress, and fires or fails now.
  RuleNews conclude(const StepPlace& last, std::int64_t now_unix_ns);
  // The process trains another model from here on: `rule`, new, judges in place of the one that saw those before.
  void begin_again(std::unique_ptr<Rule> rule) { rule_ = std::move(rule); }
  // From now on what it finds is a note, as the rule Diagnosis weighs it.
  void weigh() { is_weighed_ = true; }
  // It cannot be judged any more.
  RuleNews fail(const StepPlace& place, std::string message, std::int64_t now_unix_ns);
  // The verdict of these news follows from another rule's: says so in it and in the status.
  void attribute(RuleNews& news, const std::string& cause_id);
  // The user does not want to be notified of these news.
  void mute(RuleNews& news);
  // The engine is about to stop before the run has ended.
  RuleNews begin_stop(std::int64_t now_unix_ns);
  RuleNews end(RunnerEnd end, std::int64_t now_unix_ns);

  // Where it stands, as of the last call.
  RuleStatusRecord status(std::int64_t now_unix_ns) const;
  const std::optional<VerdictRecord>& first_fired() const { return first_fired_; }

 private:
  struct Streak {
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    std::int64_t first_to_unix_ns = 0;  // of windows
    std::int64_t last_to_unix_ns = 0;
    std::uint64_t repeats = 0;
    Severity severity = Severity::kInfo;
  };

  VerdictRecord record_of(const StepPlace& place, Verdict verdict, std::int64_t now_unix_ns) const;
  RuleNews take(VerdictRecord record);
  bool take_fired(const VerdictRecord& record, RuleNews& news);
  std::optional<RepeatsRecord> end_streak(std::int64_t now_unix_ns);
  void settle(RunnerEnd end);
  bool change_status(RuleStatus status, std::string details);
  std::string progress_text() const;
  std::string nothing_found_text() const;
  std::string judged_text() const;

  const std::string id_;
  const RuleSpec spec_;
  std::unique_ptr<Rule> rule_;
  const std::optional<TimeSchedule> schedule_;
  const bool keep_going_;
  bool is_weighed_ = false;
  RuleStatus status_ = RuleStatus::kInProgress;
  std::string details_;
  OutcomeCounts outcomes_{};  // of steps
  OutcomeCounts windows_{};   // of time
  std::uint64_t notes_ = 0;
  std::string last_excuse_;  // the message of the last not_applicable or insufficient_data
  std::optional<Streak> streak_;
  std::optional<VerdictRecord> first_fired_;  // that was more than a note
  std::int64_t last_fired_step_ = -1;
};

}  // namespace trainwarden::rules
