// Judges a written run with one rule, step by step. For the tests of the rules.
#pragma once

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "judge/rules/trial_window.h"
#include "read/trial/run_testing.h"
#include "trainwarden/rule.h"

namespace trainwarden::rules {

using Verdicts = std::map<std::int64_t, Verdict>;  // by global step

// All complete steps of the run, in order.
inline Verdicts judge(const TestRun& run, std::string_view spec_text) {
  const auto spec = parse_rule_spec(spec_text);
  const auto rule = spec.ok() ? create_rule(*spec) : Result<std::unique_ptr<Rule>>(spec.status());
  if (!rule.ok()) {
    ADD_FAILURE() << rule.status().to_string();
    return {};
  }
  const auto trial = run.open();
  Verdicts verdicts;
  for (const std::int64_t step : trial->steps()) verdicts[step] = (*rule)->evaluate(TrialWindow(*trial, step));
  return verdicts;
}

inline std::vector<std::int64_t> steps_with(const Verdicts& verdicts, Outcome outcome) {
  std::vector<std::int64_t> steps;
  for (const auto& [step, verdict] : verdicts) {
    if (verdict.outcome == outcome) steps.push_back(step);
  }
  return steps;
}

}  // namespace trainwarden::rules
