// What a rule would have said with other parameters: the recorded steps are judged again, and nothing is written.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "judge/rules/verdict_record.h"
#include "trainwarden/rule.h"
#include "trainwarden/status.h"
#include "trainwarden/trial.h"

namespace trainwarden::views {

struct WhatIfLimits {
  std::uint64_t steps = 200'000;
  std::chrono::milliseconds time{4'000};
  std::size_t listed = 5'000;  // steps in each of the lists
};

// The rule with one set of parameters. Unlike an engine's rule it is judged on after it fired.
struct JudgedAgain {
  RuleParameters parameters;
  rules::RuleStatusRecord status;             // as of the last step that was judged
  std::uint64_t fired = 0;                    // steps at which it fired; notes are counted apart
  std::uint64_t noted = 0;                    //
  std::vector<std::int64_t> fired_steps;      // global, the first of them up to WhatIfLimits::listed
  std::vector<std::int64_t> noted_steps;      // the same
  std::optional<rules::VerdictRecord> first;  // that fired and was more than a note
};

struct WhatIf {
  JudgedAgain now;
  JudgedAgain changed;
  std::uint64_t judged_steps = 0;
  std::uint64_t steps = 0;  // that the run has
  std::int64_t first_step = -1;
  std::int64_t last_step = -1;  // that was judged
  enum class Cut : std::uint8_t { kNone, kSteps, kTime } cut = Cut::kNone;
};

// Both are judged from the first step on. kInvalidArgument for a rule that does not come with Trainwarden, one that
// reads files beside the run, for parameters that the rule does not declare, and for bad values.
Result<WhatIf> judge_what_if(Trial& trial, const RuleSpec& now, const RuleParameters& changed,
                             const WhatIfLimits& limits = {});

}  // namespace trainwarden::views
