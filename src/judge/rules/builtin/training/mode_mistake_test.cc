#include <cmath>

#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

struct Called {
  Mode mode = Mode::kTrain;
  double in_train = 0;
  double in_eval = 0;
};

TestRun called_run(const std::vector<Called>& steps) {
  TestRun run;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    run.add({.step = static_cast<std::int64_t>(i),
             .tensors = {signal(signals::kCalledInTrain, steps[i].in_train),
                         signal(signals::kCalledInEval, steps[i].in_eval)},
             .mode = steps[i].mode});
  }
  return run;
}

std::vector<Called> times(std::size_t count, const Called& called) {
  return std::vector<Called>(count, called);
}

std::vector<Called> operator+(std::vector<Called> a, const std::vector<Called>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

constexpr Called kRight{Mode::kTrain, 3, 0};
constexpr Called kWrong{Mode::kTrain, 0, 3};
constexpr Called kEval{Mode::kEval, 0, 3};
constexpr Called kWrongEval{Mode::kEval, 3, 0};

TEST(ModeMistake, AForgottenTrainCallFiresAtTheFifthStep) {
  const auto verdicts = judge(called_run(times(2, kRight) + times(2, kEval) + times(6, kWrong)), "ModeMistake");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{8, 9}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 1, 2, 3, 4, 5, 6, 7}));
  const Verdict& verdict = verdicts.at(8);
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.evidence.at(0).value, 3);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "trainwarden/called_in_eval");
  EXPECT_NE(verdict.message.find("ran in evaluation mode"), std::string::npos) << verdict.message;
}

TEST(ModeMistake, ATrainingThatNeverWasInTrainModeIsANote) {
  const auto verdicts = judge(called_run(times(5, kWrong)), "ModeMistake");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{4}));
  EXPECT_EQ(verdicts.at(4).severity, Severity::kInfo);
}

TEST(ModeMistake, AForgottenEvalCall) {
  const auto verdicts = judge(called_run(times(3, kRight) + times(5, kWrongEval)), "ModeMistake");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{7}));
  EXPECT_EQ(verdicts.at(7).severity, Severity::kWarning);
  EXPECT_EQ(verdicts.at(7).evidence.at(0).tensor, "trainwarden/called_in_train");
}

TEST(ModeMistake, SomeModulesInTheOtherModeAreMeant) {
  const Called frozen_batch_norm{Mode::kTrain, 1, 20};
  const Called kept_dropout{Mode::kEval, 2, 5};
  EXPECT_TRUE(steps_with(judge(called_run(times(2, kRight) + times(9, frozen_batch_norm) + times(9, kept_dropout)),
                               "ModeMistake"),
                         Outcome::kFired)
                  .empty());
}

TEST(ModeMistake, NotInARowIsFine) {
  EXPECT_TRUE(steps_with(judge(called_run(times(1, kRight) + times(4, kWrong) + times(1, kRight) + times(4, kWrong)),
                               "ModeMistake"),
                         Outcome::kFired)
                  .empty());
}

TEST(ModeMistake, EvaluationInBetweenDoesNotEndTheRow) {
  EXPECT_EQ(steps_with(judge(called_run(times(1, kRight) + times(4, kWrong) + times(2, kEval) + times(1, kWrong)),
                             "ModeMistake"),
                       Outcome::kFired),
            (Steps{7}));
}

TEST(ModeMistake, WhatCannotBeJudged) {
  const Called none{Mode::kTrain, 0, 0};
  const Called unknown{Mode::kTrain, NAN, NAN};
  const Called no_mode{Mode::kGlobal, 0, 3};
  const Called predicting{Mode::kPredict, 0, 3};
  const auto verdicts = judge(called_run({none, unknown, no_mode, predicting}), "ModeMistake:steps=1");
  EXPECT_EQ(steps_with(verdicts, Outcome::kNotApplicable), (Steps{0, 1, 2, 3}));
  TestRun run;
  run.add({.step = 0, .mode = Mode::kTrain});
  EXPECT_EQ(judge(run, "ModeMistake").at(0).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
