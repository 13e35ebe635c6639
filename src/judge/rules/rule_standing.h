// RuleStanding: where one rule stands over all engines that have judged the run with it. RuleStandings::take() is the
// one function by which that changes; every reader and the recorder of events use it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "judge/rules/verdict_record.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

struct RuleStanding {
  std::string first_journal;  // of the engine that was the first with this rule; names the rule for good
  std::string journal;        // of the engine that `status` is from
  RuleStatusRecord status;    // the record that decided
  std::vector<RuleStatusRecord> transitions{};        // the statuses of the rule, each once; the last is `status`
  std::int64_t taken_up_unix_ns = 0;                  // when it came to be in progress last
  std::map<std::string, RuleStatusRecord> engines{};  // the newest of each journal
};

// What became of a rule.
struct RuleChange {
  std::size_t rule = 0;  // index into standings()
  std::optional<RuleStatus> from;
  RuleStatus to = RuleStatus::kInProgress;
};

inline constexpr const char* kEngineGone = "the program that judged it is gone";

// The rules of a run, by id and parameters, in the order in which they were first reported.
//
// Within one engine a rule goes as judge/rules/rule_status.h says. Over several: an issue that any of them found is
// found for good. As long as one judges, the rule is in progress. The first that came to its end by itself has the
// word, also against one that was stopped. An engine that starts again takes a rule up again, unless an issue was
// found.
class RuleStandings {
 public:
  // What the engine that writes `journal` says of a rule. None when the rule stands where it stood.
  std::optional<RuleChange> take(const std::string& journal, const RuleStatusRecord& record);
  // Nobody writes the journal any more: what it left in progress is stopped.
  std::vector<RuleChange> engine_gone(const std::string& journal, std::int64_t unix_ns);
  bool judges(const std::string& journal) const;  // has it left a rule in progress?

  // For who goes on where another has left off: where the rule stands by what was recorded, and what engines had said
  // until then, which changes nothing. False: the rule is not known.
  void restore(RuleStanding standing);
  bool remember(const std::string& journal, const RuleStatusRecord& record);

  const std::vector<RuleStanding>& standings() const { return standings_; }
  // Of the engine that judges this rule now; "" when none does.
  std::string judging_journal(const RuleStatusRecord& record) const;

 private:
  RuleStanding* find(const RuleStatusRecord& record);
  std::optional<RuleChange> settle(RuleStanding& standing, const std::string& journal, RuleStatusRecord record);

  std::vector<RuleStanding> standings_;
  std::map<std::pair<std::string, RuleParameters>, std::size_t> places_;  // of standings_, by id and parameters
};

}  // namespace trainwarden::rules
