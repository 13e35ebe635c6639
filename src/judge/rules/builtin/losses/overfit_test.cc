#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

const std::vector<std::string> kLossCollection = {"losses"};

class Losses {
 public:
  Losses& train(float loss) { return add(loss, Mode::kTrain); }
  Losses& eval(float loss) { return add(loss, Mode::kEval); }
  Verdicts judged(std::string_view spec = "Overfit") const { return judge(run_, spec); }

 private:
  Losses& add(float loss, Mode mode) {
    run_.add({.step = step_++, .tensors = {scalar("loss", loss, kLossCollection)}, .mode = mode});
    return *this;
  }
  TestRun run_;
  std::int64_t step_ = 0;
};

TEST(Overfit, TheRatioAndItsThreshold) {
  const auto verdicts = Losses().train(1).train(3).eval(2.125F).train(1).eval(1.5F).judged();
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{2}));  // a mean of 2 before: 6.25 %
  ASSERT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{4}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData), (Steps{0, 1, 3}));
  EXPECT_EQ(verdicts.at(4).evidence.at(0).quantity, "overfit_ratio");
  EXPECT_NEAR(verdicts.at(4).evidence.at(0).value, 0.5, 1e-6);
  EXPECT_EQ(verdicts.at(4).severity, Severity::kWarning);
}

TEST(Overfit, ABlockIsJudgedByItsMean) {
  const auto verdicts = Losses().train(1).eval(1.5F).eval(0.5F).train(1).eval(0.5F).eval(1.9F).judged();
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{1, 5}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{2, 4}));
}

TEST(Overfit, PatienceCountsEvaluationsInARow) {
  const auto verdicts =
      Losses().train(1).eval(2).train(1).eval(1).train(1).eval(2).train(1).eval(2).judged("Overfit:patience=2");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{7}));
}

TEST(Overfit, StartStepAndThreshold) {
  Losses losses;
  losses.train(1).eval(2).train(1).eval(2);
  EXPECT_EQ(steps_with(losses.judged("Overfit:start_step=2"), Outcome::kFired), (Steps{3}));
  EXPECT_TRUE(steps_with(losses.judged("Overfit:ratio_threshold=1"), Outcome::kFired).empty());
}

TEST(Overfit, LossesOfOneStepArePairedByName) {
  TestRun run;
  const auto pair = [](float train, float validation) {
    return std::vector{scalar("train-rmse", train, kLossCollection),
                       scalar("validation-rmse", validation, kLossCollection)};
  };
  run.add({.step = 0, .tensors = pair(1, 1)});
  run.add({.step = 1, .tensors = pair(1, 1.2F)});
  run.add({.step = 2, .tensors = {scalar("loss", 1, kLossCollection), scalar("val_loss", 3, kLossCollection)}});
  const auto verdicts = judge(run, "Overfit");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{1, 2}));
  EXPECT_EQ(verdicts.at(1).evidence.at(0).tensor, "rmse");
  EXPECT_EQ(verdicts.at(2).evidence.at(0).tensor, "loss");
}

TEST(Overfit, NamesOfEachLibraryArePaired) {
  const std::pair<const char*, const char*> fires[] = {{"training-l2", "valid_0-l2"},
                                                       {"train-rmse", "valid-rmse"},
                                                       {"train-rmse", "test-rmse"},
                                                       {"train-rmse", "eval-rmse"}};
  for (const auto& [train, validation] : fires) {
    TestRun run;
    run.add({.step = 0, .tensors = {scalar(train, 1, kLossCollection), scalar(validation, 2, kLossCollection)}});
    EXPECT_EQ(steps_with(judge(run, "Overfit"), Outcome::kFired), (Steps{0})) << validation;
  }
  TestRun run;  // either may be the set that is trained with
  run.add({.step = 0,
           .tensors = {scalar("validation_0-rmse", 1, kLossCollection), scalar("validation_1-rmse", 2, kLossCollection),
                       scalar("valid_-rmse", 9, kLossCollection)}});
  EXPECT_TRUE(steps_with(judge(run, "Overfit"), Outcome::kFired).empty());
}

TEST(Overfit, NaNAndLossesThatAreNoMeasure) {
  EXPECT_EQ(steps_with(Losses().train(1).eval(NAN).judged(), Outcome::kFired), (Steps{1}));
  EXPECT_TRUE(steps_with(Losses().train(NAN).eval(1).judged(), Outcome::kFired).empty());
  EXPECT_EQ(steps_with(Losses().train(-1).eval(1).judged(), Outcome::kInsufficientData), (Steps{0, 1}));
  EXPECT_EQ(steps_with(Losses().eval(1).judged(), Outcome::kInsufficientData), (Steps{0}));
}

TEST(Overfit, NothingCaptured) {
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  EXPECT_EQ(judge(run, "Overfit").at(0).outcome, Outcome::kNotApplicable);
}

TEST(Overfit, BadParameters) {
  for (const char* spec :
       {"Overfit:patience=0", "Overfit:ratio_threshold=-1", "Overfit:start_step=-1", "Overfit:tensor_regex=("}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
