#include <fmt/format.h>

#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

struct Saved {
  std::string path = "/runs/model-1.pt";
  int bytes = 1000;
  int non_finite = 0;
  int different = 0;
  int damaged = 0;
};

TestTensor checkpoint(const Saved& saved, std::string_view name = signals::kCheckpoint) {
  return text_signal(
      name,
      fmt::format(R"({{"path": "{}", "bytes": {}, "tensors": 10, "non_finite": {}, "different": {}, "damaged": {}, )"
                  R"("seconds": 0.1}})",
                  saved.path, saved.bytes, saved.non_finite, saved.different, saved.damaged));
}

Verdict judge_last(const std::vector<Saved>& checkpoints) {
  TestRun run;
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    run.add({.step = static_cast<std::int64_t>(i), .tensors = {checkpoint(checkpoints[i])}});
  }
  return judge(run, "CheckpointIntegrity").rbegin()->second;
}

TEST(CheckpointIntegrity, AGoodOneIsOk) {
  EXPECT_EQ(judge_last({{}}).outcome, Outcome::kOk);
}

TEST(CheckpointIntegrity, ADamagedFile) {
  const Verdict verdict = judge_last({{.damaged = 2}});
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.severity, Severity::kError);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "damaged");
  EXPECT_EQ(verdict.evidence.at(0).value, 2);
  EXPECT_NE(verdict.message.find("/runs/model-1.pt"), std::string::npos) << verdict.message;
}

TEST(CheckpointIntegrity, MoreValuesThatAreNotFiniteThanBefore) {
  EXPECT_EQ(judge_last({{.path = "m1"}, {.path = "m2", .non_finite = 1}}).severity, Severity::kError);
  const Verdict as_before = judge_last({{.path = "m1", .non_finite = 1}, {.path = "m2", .non_finite = 1}});
  EXPECT_EQ(as_before.outcome, Outcome::kFired);
  EXPECT_EQ(as_before.severity, Severity::kInfo);
  EXPECT_EQ(judge_last({{.non_finite = 5}}).severity, Severity::kInfo);
  EXPECT_EQ(judge_last({{.non_finite = 6}}).severity, Severity::kError);
}

TEST(CheckpointIntegrity, OtherWeightsThanTheModelsAreANote) {
  EXPECT_EQ(judge_last({{.different = 10}}).severity, Severity::kInfo);
}

TEST(CheckpointIntegrity, AFileThatIsCutShort) {
  const std::vector<Saved> three{{.path = "m1"}, {.path = "m2"}, {.path = "m3"}};
  const auto then = [&](std::vector<Saved> saved, const Saved& last) {
    saved.push_back(last);
    return judge_last(saved);
  };
  EXPECT_EQ(then(three, {.path = "m4", .bytes = 500}).outcome, Outcome::kOk);
  const Verdict verdict = then(three, {.path = "m4", .bytes = 499});
  EXPECT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.evidence.at(0).threshold, 500);
  EXPECT_EQ(then(three, {.path = "other4", .bytes = 10}).outcome, Outcome::kOk);
  EXPECT_EQ(then({{.path = "m1"}, {.path = "m2"}}, {.path = "m3", .bytes = 10}).outcome, Outcome::kOk);
}

TEST(CheckpointIntegrity, TheWorstOfSeveralInOneStep) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {checkpoint({.different = 3}),
                       checkpoint({.path = "b.pt", .damaged = 1}, "trainwarden/checkpoint#1")}});
  const Verdict verdict = judge(run, "CheckpointIntegrity").at(0);
  EXPECT_EQ(verdict.severity, Severity::kError);
  ASSERT_EQ(verdict.evidence.size(), 2u);
  EXPECT_EQ(verdict.evidence[0].tensor, "trainwarden/checkpoint#1");
}

TEST(CheckpointIntegrity, AFileWithoutChecksumsIsJudgedByTheRest) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {text_signal(signals::kCheckpoint, R"({"path": "a", "bytes": 1, "tensors": 1, "non_finite": 1, )"
                                                         R"("different": 0, "seconds": 0})")}});
  EXPECT_EQ(judge(run, "CheckpointIntegrity").at(0).severity, Severity::kError);
}

TEST(CheckpointIntegrity, WhatCannotBeReadIsInsufficient) {
  TestRun run;
  run.add({.step = 0, .tensors = {text_signal(signals::kCheckpoint, R"({"path": "a"})")}});
  run.add({.step = 1, .tensors = {text_signal(signals::kCheckpoint, "no JSON")}});
  run.add_steps(2, 2);
  const auto verdicts = judge(run, "CheckpointIntegrity");
  EXPECT_EQ(verdicts.at(0).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(verdicts.at(1).outcome, Outcome::kInsufficientData);
  EXPECT_EQ(verdicts.at(2).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
