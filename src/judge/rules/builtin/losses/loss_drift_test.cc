#include <cmath>

#include <gtest/gtest.h>

#include "judge/rules/builtin/losses/loss_testing.h"
#include "judge/rules/builtin/rule_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

// From 2 down to 1; from step 200 on it rises by `drift` a step.
LossAt drifting(double drift) {
  return [=](std::int64_t step) {
    const auto at = static_cast<double>(step);
    return 1 + std::exp(-at / 40) + (step < 200 ? 0 : drift * (at - 200)) + 0.05 * noise(step);
  };
}

TEST(LossDrift, ASlowRise) {
  const auto verdicts = judge(loss_run(350, drifting(0.01)), "LossDrift");
  const Steps fired = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(fired.empty());
  EXPECT_GT(fired.front(), 210);
  EXPECT_LT(fired.front(), 260);
  const Verdict& verdict = verdicts.at(fired.front());
  EXPECT_EQ(verdict.severity, Severity::kWarning);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "loss");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "cusum");
  EXPECT_EQ(verdict.evidence.at(1).quantity, "lost");
  EXPECT_NE(verdict.message.find("crept up since step 2"), std::string::npos) << verdict.message;
}

TEST(LossDrift, AHealthyLossIsOk) {
  const auto verdicts = judge(loss_run(1000, drifting(0)), "LossDrift");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData).size(), 49u);
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk).size(), 951u);
}

TEST(LossDrift, SeveralOptimizersAndRestarts) {
  const auto gan = [](std::int64_t) { return std::vector{two_optimizers()}; };
  const auto verdicts = judge(loss_run(350, drifting(0.01), gan), "LossDrift");
  for (const std::int64_t step : steps_with(verdicts, Outcome::kFired)) {
    EXPECT_EQ(verdicts.at(step).severity, Severity::kInfo);
  }
  // After the restart the loss rises and falls again.
  const auto restart = [](std::int64_t step) {
    return std::vector{learning_rate(step < 200 ? 0.1 * (1 - static_cast<double>(step) / 201) : 0.1)};
  };
  const auto loss = [](std::int64_t step) {
    const auto at = static_cast<double>(step);
    return 1 + std::exp(-at / 40) + (step < 200 ? 0 : 0.5 * (1 - std::exp((200 - at) / 8))) + 0.05 * noise(step);
  };
  EXPECT_TRUE(steps_with(judge(loss_run(350, loss, restart), "LossDrift"), Outcome::kFired).empty());
  EXPECT_FALSE(steps_with(judge(loss_run(350, loss), "LossDrift"), Outcome::kFired).empty());
}

TEST(LossDrift, OneOfSeveralLossesIsANote) {
  TestRun run;
  for (std::int64_t step = 0; step < 350; ++step) {
    run.add({.step = step,
             .tensors = {scalar("loss", static_cast<float>(drifting(0.01)(step)), {"losses"}),
                         scalar("other", 1, {"losses"})},
             .mode = Mode::kTrain});
  }
  const auto verdicts = judge(run, "LossDrift");
  const Steps fired = steps_with(verdicts, Outcome::kFired);
  ASSERT_FALSE(fired.empty());
  for (const std::int64_t step : fired) EXPECT_EQ(verdicts.at(step).severity, Severity::kInfo);
}

TEST(LossDrift, ARateThatIsRaisedAgainStepByStep) {
  const auto rate = [](std::int64_t step) {  // 0.1, down to 0.01 in 150 steps, and up to 0.1 again in another 150
    return 0.1 - 0.0006 * static_cast<double>(step < 150 ? step : 300 - step);
  };
  const auto cycle = [&](std::int64_t step) { return std::vector{learning_rate(rate(step))}; };
  const auto loss = [&](std::int64_t step) {
    return 1 + std::exp(-static_cast<double>(step) / 40) + 5 * rate(step) + 0.02 * noise(step);
  };
  EXPECT_FALSE(steps_with(judge(loss_run(300, loss), "LossDrift"), Outcome::kFired).empty());
  EXPECT_TRUE(steps_with(judge(loss_run(300, loss, cycle), "LossDrift"), Outcome::kFired).empty());
  const auto higher_than_ever = [&](std::int64_t step) {
    return std::vector{learning_rate(step < 150 ? 0.01 : 0.01 + 0.001 * static_cast<double>(step - 150))};
  };
  EXPECT_FALSE(steps_with(judge(loss_run(300, loss, higher_than_ever), "LossDrift"), Outcome::kFired).empty());
}

TEST(LossDrift, NaNAndNothing) {
  const auto verdicts = judge(loss_run(60, [](std::int64_t) { return std::nan(""); }), "LossDrift");
  EXPECT_EQ(steps_with(verdicts, Outcome::kInsufficientData).size(), 60u);
  TestRun run;
  run.add({.step = 0, .tensors = {kept("w", {1})}});
  run.add({.step = 1, .tensors = {scalar("loss", 1, {"losses"})}, .mode = Mode::kEval});
  EXPECT_EQ(steps_with(judge(run, "LossDrift"), Outcome::kNotApplicable), (Steps{0, 1}));
}

TEST(LossDrift, BadParameters) {
  for (const char* spec :
       {"LossDrift:slack=-1", "LossDrift:limit=x", "LossDrift:lost=-1", "LossDrift:collection_names="}) {
    EXPECT_EQ(create_rule(*parse_rule_spec(spec)).status().code(), Code::kInvalidArgument) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules
