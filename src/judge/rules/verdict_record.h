// What the engine writes into its journal, as JSON in verdict frames (docs/reference/rules.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "judge/rules/step_place.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"

namespace trainwarden::rules {

// A rule's verdict on a step or a window of time.
struct VerdictRecord {
  std::string rule_id;        // the rule's name; with "-2", "-3" after it when the engine has several of a kind
  std::string rule;           // "VanishingGradient"
  RuleParameters parameters;  // as they were given
  StepPlace place;
  std::int64_t unix_ns = 0;  // when it was judged
  Verdict verdict;
  std::string consequence_of;  // the id of the rule whose verdict explains this one; empty: none does
  bool weighed = false;        // a note only because the rule Diagnosis weighs it
  bool muted = false;          // the user does not want to be notified of it

  // What the user names to mute it: "LossSpike:CrossEntropyLoss_output_0", with a metric's name in place of
  // the tensor's for one on time, or the rule's id alone.
  std::string mute_key() const;
  // It fired, it is more than a note, nobody muted it and nothing else explains it.
  bool alarms() const;
  // It alarms, or it is the note of a rule that tells of a goal: the actions that wait for it begin.
  bool starts_actions() const;
};

// Verdicts like the last one reported of this rule, folded into one.
struct RepeatsRecord {
  std::string rule_id;
  Outcome outcome = Outcome::kFired;
  std::int64_t first_step = 0;  // global
  std::int64_t last_step = 0;
  std::uint64_t count = 0;
  std::int64_t unix_ns = 0;
  // When the first and the last window ended, of verdicts on time; 0 of those on steps.
  std::int64_t first_to_unix_ns = 0;
  std::int64_t last_to_unix_ns = 0;
};

inline constexpr std::size_t kOutcomeCount = 5;
using OutcomeCounts = std::array<std::uint64_t, kOutcomeCount>;  // of steps, at the Outcome's number

// A rule's status changed.
struct RuleStatusRecord {
  std::string rule_id;
  std::string rule;
  RuleParameters parameters;
  RuleStatus status = RuleStatus::kInProgress;
  std::string details;
  OutcomeCounts outcomes{};
  std::int64_t unix_ns = 0;  // of the change
  OutcomeCounts windows{};   // the same of windows of time
};

std::string encode_verdict(const VerdictRecord& record);
std::string encode_repeats(const RepeatsRecord& record);
std::string encode_rule_status(const RuleStatusRecord& record);

// None when the JSON is of another type; kDataLoss when it is damaged.
Result<std::optional<VerdictRecord>> decode_verdict(std::string_view json);
Result<std::optional<RepeatsRecord>> decode_repeats(std::string_view json);
Result<std::optional<RuleStatusRecord>> decode_rule_status(std::string_view json);

// A rule's answer alone, as the process that a rule of the user's runs in gives it. kDataLoss when it is damaged.
std::string encode_answer(const Verdict& verdict);
Result<Verdict> decode_answer(std::string_view json);

}  // namespace trainwarden::rules
