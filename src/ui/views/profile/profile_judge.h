// ProfileJudge: the rules about where the time goes, over a whole run, and why those that did not fire did not.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "judge/rules/engine.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"
#include "ui/views/profile/profile_report.h"

namespace trainwarden::views {

// What one rule has said so far.
struct RuleAnswers {
  RuleDescription description;
  RuleParameters parameters;      // with the defaults
  std::optional<Verdict> fired;   // the newest that was more than a note
  std::optional<Verdict> noted;   // the newest note
  std::optional<Verdict> newest;  // of any outcome
  std::optional<Verdict> reason;  // the newest that is neither ok nor fired
  std::uint64_t judgements = 0;   // how often it was ok, or fired
  std::uint64_t firings = 0;      // of these, more than a note
  std::uint64_t episodes = 0;     // firings that follow no other
  bool is_firing = false;
};

using ParametersOfRules = std::map<std::string, RuleParameters>;  // by the rule's name

// Nothing is written into the run. One thread at a time; the trial must outlive it, and is refreshed.
class ProfileJudge {
 public:
  // `given` goes before the defaults. `kinds`: by name, for tests; none: all of the set profiler, but those that only
  // sum up the others.
  explicit ProfileJudge(Trial& trial, const ParametersOfRules& given = {}, const std::vector<std::string>& kinds = {});
  ~ProfileJudge();

  // Judges what has come since, until `patience` is over; what is left then comes with the next call. A call within
  // `at_most_every` of one that left nothing does nothing.
  Status judge(std::chrono::nanoseconds patience, std::chrono::nanoseconds at_most_every);
  bool is_behind() const { return is_behind_; }  // there was no time for all

  // Findings first, by gain; then the others by name.
  std::vector<JudgedRule> rules() const;

 private:
  rules::EngineRule remember(const RuleDescription& description, const RuleParameters& given,
                             std::unique_ptr<Rule> rule);

  std::vector<std::unique_ptr<RuleAnswers>> answers_;
  std::vector<JudgedRule> broken_;  // that could not be made
  std::int64_t end_ns_ = 0;
  std::stop_source stop_;
  std::unique_ptr<rules::Engine> engine_;
  std::int64_t judged_ns_ = 0;
  bool is_behind_ = true;
};

// The first finding, else that nothing was found, else what is missing.
ProfileVerdict verdict_of(const std::vector<JudgedRule>& rules, bool is_behind);

}  // namespace trainwarden::views
