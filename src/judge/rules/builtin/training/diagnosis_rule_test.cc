#include <string>
#include <utility>

#include <fmt/format.h>

#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

// A training whose second layer no optimizer has, examined at each step.
TestRun forgotten_layer(std::int64_t steps, bool forgotten = true) {
  const std::string structure = fmt::format(
      R"({{"modules":[{{"name":"0","kind":"Linear","leaf":true}},{{"name":"2","kind":"Linear","leaf":true}}],)"
      R"("parameters":[{{"name":"0.weight","shape":[8,4],"dtype":"float32","trainable":true,"optimizers":[0]}},)"
      R"({{"name":"2.weight","shape":[2,8],"dtype":"float32","trainable":true,"optimizers":[{}]}}],"unregistered":[],)"
      R"("optimizers":[{{"kind":"SGD","groups":[{{"parameters":1,"lr":0.1}}]}}],"compared":[],"layers":[],)"
      R"("places":{{"optimizer":"/home/me/train.py:7"}},"foreign":0}})",
      forgotten ? "" : "0");
  const std::string layout = R"({"layout":[["loss",1],["gradient",2],["weight",2],["step",1]]})";
  TestRun run;
  for (std::int64_t step = 0; step < steps; ++step) {
    const double at = static_cast<double>(step), gradient = 0.1 + 0.001 * at;  // no two batches give the same
    TestTensor numbers =
        kept_doubles("trainwarden/examination/numbers", {1 / (1 + at), gradient, gradient, 0.3, 0.3, at}, {"signals"});
    std::vector<TestTensor> tensors = {text_signal("trainwarden/examination/layout", layout), std::move(numbers)};
    if (step == 0) tensors.push_back(text_signal("trainwarden/examination/structure", structure));
    run.add({.step = step, .tensors = std::move(tensors), .mode = Mode::kTrain});
  }
  return run;
}

TEST(DiagnosisRule, NamesTheCauseOnceItWasNamedThreeTimesInARow) {
  const auto verdicts = judge(forgotten_layer(5), "Diagnosis:steps=0");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (std::vector<std::int64_t>{2, 3, 4}));
  const Verdict& verdict = verdicts.at(2);
  EXPECT_NE(verdict.message.find("2.weight"), std::string::npos) << verdict.message;
  EXPECT_NE(verdict.message.find("(train.py:7)"), std::string::npos) << verdict.message;
  EXPECT_NE(verdict.advice.find("optimizer"), std::string::npos) << verdict.advice;
  EXPECT_GE(verdict.confidence, 0.7);
}

// Each worker has data of its own: what the second one says counts, though the first one speaks for all in the rest.
TEST(DiagnosisRule, NamesTheSampleThatAnyWorkerFound) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 4; ++step) {
    const double at = static_cast<double>(step);
    run.add(
        {.step = step,
         .tensors = {text_signal("trainwarden/examination/layout", R"({"layout":[["loss",1],["input",6],["step",1]]})"),
                     kept_doubles("trainwarden/examination/numbers", {1 / (1 + at), 0, 1, -2, 2, 0, 0.01, at},
                                  {"signals"})},
         .mode = Mode::kTrain});
    const std::string sample = fmt::format(
        R"({{"batches":[{{"kind":"not_finite","count":1,"samples":[{{"row":0,"index":{},"source":"cat.jpg"}}]}}]}})",
        step);
    run.add({.step = step,
             .tensors = {text_signal("trainwarden/batch/bad_samples", step == 1 ? sample : "no JSON")},
             .mode = Mode::kTrain,
             .worker = 1});
  }
  const auto verdicts = judge(run, "Diagnosis:steps=0");
  ASSERT_FALSE(steps_with(verdicts, Outcome::kFired).empty());
  const Verdict& verdict = verdicts.at(steps_with(verdicts, Outcome::kFired).back());
  EXPECT_NE(verdict.message.find("sample 1 (cat.jpg)"), std::string::npos) << verdict.message;
}

TEST(DiagnosisRule, TakesItsPatienceFromTheUser) {
  EXPECT_EQ(steps_with(judge(forgotten_layer(3), "Diagnosis:patience=1,steps=0"), Outcome::kFired).front(), 0);
  EXPECT_TRUE(steps_with(judge(forgotten_layer(5), "Diagnosis:confidence=1,steps=0"), Outcome::kFired).empty());
}

// Sure by nine tenths only: named from step 0 on, so from step 6 on for at least 6 steps and half of all.
TEST(DiagnosisRule, WaitsUntilWhatIsLessSureHasSettled) {
  const auto verdicts = judge(forgotten_layer(9), "Diagnosis:steps=6");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (std::vector<std::int64_t>{6, 7, 8}));
}

TEST(DiagnosisRule, WaitsForNothingWhenTheRunHasEnded) {
  for (const bool forgotten : {true, false}) {
    const auto rule = create_rule(*parse_rule_spec("Diagnosis"));
    ASSERT_TRUE(rule.ok());
    EXPECT_EQ((*rule)->conclude().outcome, Outcome::kNotApplicable) << "nothing was examined";
    const TestRun run = forgotten_layer(9, forgotten);
    const auto trial = run.open();
    for (const std::int64_t step : trial->steps()) {
      EXPECT_NE((*rule)->evaluate(TrialWindow(*trial, step)).outcome, Outcome::kFired);
    }
    const Verdict last = (*rule)->conclude();
    EXPECT_EQ(last.outcome, forgotten ? Outcome::kFired : Outcome::kOk);
    EXPECT_EQ(last.message.find("2.weight") != std::string::npos, forgotten) << last.message;
  }
}

// Of what is not read off the program beyond doubt; a rule that has fired is judged no more, so it asks before.
TEST(DiagnosisRule, AsksForAnExaminationWhereItCannotDecide) {
  const auto asked = judge(forgotten_layer(9), "Diagnosis:steps=6");
  EXPECT_NE(asked.at(2).examine_reason.find("parameters_not_in_optimizer (0."), std::string::npos)
      << asked.at(2).examine_reason;
  for (const auto& [step, each] : judge(forgotten_layer(9, false), "Diagnosis:steps=6")) {
    EXPECT_EQ(each.examine_reason, "") << step;
  }
}

TEST(DiagnosisRule, SaysThatAllIsWell) {
  EXPECT_EQ(steps_with(judge(forgotten_layer(4, false), "Diagnosis"), Outcome::kOk).size(), 4u);
}

TEST(DiagnosisRule, HasNothingToJudgeWithoutAnExamination) {
  TestRun run;
  run.add({.step = 0, .tensors = {scalar("loss", 1, {"losses"})}, .mode = Mode::kTrain});
  EXPECT_EQ(judge(run, "Diagnosis").at(0).outcome, Outcome::kNotApplicable);
}

TEST(DiagnosisRule, CountsWhatItCannotReadAndGoesOn) {
  TestRun run;
  run.add({.step = 0,
           .tensors = {text_signal("trainwarden/examination/structure", "{"),
                       kept_doubles("trainwarden/examination/numbers", {1, 2, 3}, {"signals"})},
           .mode = Mode::kTrain});
  EXPECT_EQ(judge(run, "Diagnosis").at(0).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
