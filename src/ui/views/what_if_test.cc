#include "ui/views/what_if.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/base/folder_testing.h"
#include "read/trial/run_testing.h"

namespace trainwarden::views {
namespace {

using Steps = std::vector<std::int64_t>;

// Gradients that vanish: of step s their mean magnitude is 10^-s.
TestRun vanishing() {
  TestRun run;
  float size = 1;
  for (std::int64_t step = 0; step < 8; ++step, size /= 10) {
    run.add({.step = step, .tensors = {reduced("gradient/w", {size, -size}, {"gradients"})}});
  }
  run.end();
  return run;
}

RuleSpec vanishing_gradient(const std::string& threshold) {
  return {"VanishingGradient", {{"threshold", threshold}}};
}

TEST(WhatIf, JudgesTheSameStepsByBothThresholds) {
  const TestRun run = vanishing();
  const auto trial = run.open();
  const auto answer = judge_what_if(*trial, vanishing_gradient("0.5e-5"), {{"threshold", "0.5e-2"}});
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->now.fired_steps, (Steps{6, 7}));
  EXPECT_EQ(answer->changed.fired_steps, (Steps{3, 4, 5, 6, 7}));
  EXPECT_EQ(answer->now.fired, 2U);
  EXPECT_EQ(answer->changed.first->place.global_step, 3);
  EXPECT_EQ(answer->changed.first->verdict.evidence.at(0).tensor, "gradient/w");
  EXPECT_EQ(answer->now.status.status, RuleStatus::kIssuesFound);
  EXPECT_EQ(answer->judged_steps, 8U);
  EXPECT_EQ(answer->steps, 8U);
  EXPECT_EQ(answer->last_step, 7);
  EXPECT_EQ(answer->cut, WhatIf::Cut::kNone);
  EXPECT_FALSE(run.storage()->exists("journal/watch-0"));  // nothing is written
}

TEST(WhatIf, SaysWhereItWasCut) {
  const TestRun run = vanishing();
  const auto trial = run.open();
  WhatIfLimits limits;
  limits.steps = 5;
  const auto answer = judge_what_if(*trial, vanishing_gradient("0.5e-5"), {{"threshold", "0.5e-2"}}, limits);
  ASSERT_TRUE(answer.ok()) << answer.status().to_string();
  EXPECT_EQ(answer->judged_steps, 5U);
  EXPECT_EQ(answer->last_step, 4);
  EXPECT_EQ(answer->cut, WhatIf::Cut::kSteps);
  EXPECT_EQ(answer->changed.fired_steps, (Steps{3, 4}));

  limits = {};
  limits.time = std::chrono::milliseconds(0);
  EXPECT_EQ(judge_what_if(*trial, vanishing_gradient("1"), {}, limits)->cut, WhatIf::Cut::kTime);
}

TEST(WhatIf, ListsNoMoreStepsThanItMayAndCountsThemAll) {
  const TestRun run = vanishing();
  const auto trial = run.open();
  WhatIfLimits limits;
  limits.listed = 2;
  const auto answer = judge_what_if(*trial, vanishing_gradient("0.5e-5"), {{"threshold", "0.5e-2"}}, limits);
  EXPECT_EQ(answer->changed.fired_steps, (Steps{3, 4}));
  EXPECT_EQ(answer->changed.fired, 5U);
}

TEST(WhatIf, RefusesWhatItCannotJudge) {
  const TestRun run = vanishing();
  const auto trial = run.open();
  const auto message = [&](const RuleSpec& now, const RuleParameters& changed) {
    const auto answer = judge_what_if(*trial, now, changed);
    EXPECT_EQ(answer.status().code(), Code::kInvalidArgument);
    return answer.status().message();
  };
  EXPECT_NE(message({"NoSuchRule", {}}, {}).find("NoSuchRule"), std::string::npos);
  EXPECT_NE(message({"SimilarAcrossRuns", {{"other_trials", "/etc"}}}, {}).find("reads files"), std::string::npos);
  EXPECT_NE(message({"VanishingGradient", {}}, {{"threshold", "much"}}).find("threshold"), std::string::npos);
  EXPECT_NE(message({"VanishingGradient", {}}, {{"no_such", "1"}}).find("no_such"), std::string::npos);
}

// Whoever loads a rule file runs what is in it; here it would leave a marker.
TEST(WhatIf, NoParameterLeadsToARuleFile) {
  const TestFolder folder;
  const std::filesystem::path marker = folder.path() / "ran";
  const std::filesystem::path file = folder.path() / "evil.py";
  std::ofstream(file) << "import trainwarden\nopen('" << marker.string() << "', 'w').write('ran')\n";
  const TestRun run = vanishing();
  const auto trial = run.open();
  const std::vector<RuleParameters> hostile = {
      {{"rule_file", file.string()}},
      {{"threshold", "1"}, {"rule_file", file.string()}},
      {{"rule_file", file.string()}, {"host.time_limit", "5"}},
      {{"expression", "l2(gradient/*) > 1"}},
      {{"host.memory_limit", "1"}},
  };
  for (const RuleParameters& parameters : hostile) {
    for (const std::string name : {"VanishingGradient", "evil", "ExplodingTensor", "SimilarAcrossRuns", "Expression"}) {
      EXPECT_EQ(judge_what_if(*trial, {name, {}}, parameters).status().code(), Code::kInvalidArgument) << name;
      EXPECT_EQ(judge_what_if(*trial, {name, parameters}, {}).status().code(), Code::kInvalidArgument) << name;
    }
  }
  const auto refused = judge_what_if(*trial, vanishing_gradient("1"), {{"rule_file", file.string()}});
  EXPECT_NE(refused.status().message().find("has no parameter \"rule_file\""), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(marker));
}

}  // namespace
}  // namespace trainwarden::views
