// Engine: judges a run with several rules, step by step and over windows of time, and writes what they find into a
// journal of its own.
//
//   TRAINWARDEN_ASSIGN_OR_RETURN(auto rules, create_engine_rules(specs));
//   Engine engine(trial, std::move(rules), options, on_verdict);
//   TRAINWARDEN_RETURN_IF_ERROR(engine.run_until_end(stop));
//   for (const RuleStatusRecord& status : engine.statuses()) ...
//
// A rule is judged no more once it has fired (unless keep_going) or failed; the others go on. A verdict that another
// rule's explains (RuleDescription::consequences) is reported as its consequence. Steps are judged in
// rising order, each once: a step that becomes known after a later one was judged is not judged. A window of time is
// judged once all of its samples have come, before the first step that ended behind it (timeline/timeline.h). An engine
// that starts again on the same run judges from its beginning on.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "judge/rules/rule_runner.h"
#include "judge/rules/timeline/timeline.h"
#include "judge/rules/trial_memory.h"
#include "judge/rules/verdict_context.h"
#include "judge/rules/verdict_record.h"
#include "judge/rules/watch_journal.h"
#include "store/storage/storage.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::rules {

struct EngineRule {
  RuleSpec spec;
  std::unique_ptr<Rule> rule;
  std::vector<std::string> consequences{};  // as in RuleDescription
  bool is_symptom = false;                  // the same; false of a rule that was given parameters
};

// kInvalidArgument as create_rule().
Result<std::vector<EngineRule>> create_engine_rules(std::span<const RuleSpec> specs);

// What the rules are called in verdicts: their names, with "-2", "-3", ... after those that were there before.
std::vector<std::string> rule_ids(std::span<const EngineRule> rules);

struct EngineOptions {
  bool keep_going = false;                      // judge on with a rule that has fired
  storage::Storage* journal_storage = nullptr;  // of the run; null: no journal is written
  std::chrono::milliseconds poll_interval{5};
  const Clock* clock = &system_clock();
  std::vector<std::string> mute;  // keys (VerdictRecord::mute_key) of which the user has heard enough
  // A rule would judge better after an examination of the next train steps: why (Verdict::examine_reason).
  std::function<void(const std::string& reason)> on_examine{};
  // Takes each record that could not be written into a journal, or that is written into none.
  std::function<void(const std::string& json)> on_unwritten{};
};

// Called in the engine's thread for each verdict that fired (repeats are folded) or failed, after it was written down;
// for consequences and muted ones, too.
using VerdictCallback = std::function<void(const VerdictRecord&)>;

// One thread at a time.
class Engine {
 public:
  // `trial` and what the options point to must outlive it. A journal that cannot be opened does not keep the engine
  // from judging: see journal_status().
  Engine(Trial& trial, std::vector<EngineRule> rules, const EngineOptions& options, VerdictCallback on_verdict = {});
  ~Engine();  // finish()
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Refreshes the trial once and judges what is new; returns early when `stop` is asked for. The status is the
  // refresh's, else that of reading samples.
  Status poll(std::stop_token stop = {});
  // Polls until the run has ended and everything was judged, or `stop` is asked for; then finish(). Passing faults of
  // the storage (kUnavailable) are sat out, other failures end it.
  Status run_until_end(std::stop_token stop);
  // Settles the status of every rule and seals the journal. Idempotent; nothing is judged after it.
  void finish();

  bool run_ended() const;    // the run has ended, and every step and window was judged
  bool all_decided() const;  // no rule would judge any more
  std::int64_t last_judged_step() const { return last_judged_step_; }  // global, -1 before the first
  std::vector<RuleStatusRecord> statuses() const;                      // in the order of the rules
  std::vector<VerdictRecord> first_fired() const;                      // of each rule that fired, in the same order

  const std::string& journal_name() const { return journal_.name; }  // "watch-0"; "" when none is written
  const Status& journal_status() const { return journal_status_; }   // the first failure to write it

 private:
  void open_journal(storage::Storage& storage);
  void judge(std::int64_t global_step);
  void begin_training();
  void weigh_symptoms(const StepWindow& window);
  // Samples over time.
  void plan_windows();
  Status refresh_windows();
  Status judge_windows(std::int64_t until_unix_ns, std::stop_token stop);
  void judge_windows_that_end(const DueWindows& due);
  void fail_windows(const Status& status);
  // Time that passes.
  void conclude();
  void judge_clock();
  void take(RuleRunner& runner, RuleNews news);
  void report(const RuleNews& news);
  void append(std::int64_t global_step, const std::string& json);

  Trial& trial_;
  const EngineOptions options_;
  const VerdictCallback on_verdict_;
  std::deque<RuleRunner> runners_;  // they do not move
  Consequences consequences_;
  std::vector<RuleRunner*> symptoms_;  // that the rule Diagnosis weighs, where the training is examined
  TrialMemory memory_;
  WatchJournal journal_;
  Status journal_status_;
  std::int64_t last_judged_step_ = -1;
  Timeline timeline_;
  std::vector<RuleRunner*> timed_;  // as the timeline numbers them
  struct ClockRule {
    RuleRunner* runner = nullptr;
    std::int64_t asked_ns = 0;  // when it was last asked, on the steady clock
  };
  std::vector<ClockRule> clock_rules_;
  bool finished_ = false;
};

}  // namespace trainwarden::rules
