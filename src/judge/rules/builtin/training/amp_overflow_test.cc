#include <cmath>

#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

using Steps = std::vector<std::int64_t>;

struct Scaled {
  double scale = 0;
  bool skipped = false;
};

TestRun scaled_run(const std::vector<Scaled>& steps) {
  TestRun run;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    run.add({.step = static_cast<std::int64_t>(i),
             .tensors = {signal(signals::kAmpScale, steps[i].scale),
                         signal(signals::kAmpSkipped, steps[i].skipped ? 1 : 0)}});
  }
  return run;
}

std::vector<Scaled> good(std::size_t count, double scale) {
  return std::vector<Scaled>(count, Scaled{scale, false});
}

std::vector<Scaled> operator+(std::vector<Scaled> a, const std::vector<Scaled>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// A step that is left out at this scale, then good ones at half of it.
std::vector<Scaled> halving(double scale, std::size_t good_steps) {
  return std::vector<Scaled>{{scale, true}} + good(good_steps, scale / 2);
}

bool fires(const std::vector<Scaled>& steps, std::string_view spec = "AmpOverflow") {
  return !steps_with(judge(scaled_run(steps), spec), Outcome::kFired).empty();
}

TEST(AmpOverflow, FindingTheScaleAtTheStartIsFine) {
  std::vector<Scaled> steps;
  for (double scale = 65536; scale > 512; scale /= 2) steps.push_back({scale, true});
  EXPECT_FALSE(fires(steps + good(300, 512)));
}

TEST(AmpOverflow, ThreeSkippedStepsInARowFire) {
  const auto verdicts =
      judge(scaled_run(good(110, 1024) + std::vector<Scaled>{{1024, true}, {512, true}, {256, true}}), "AmpOverflow");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{112}));
  const Verdict& verdict = verdicts.at(112);
  EXPECT_EQ(verdict.evidence.at(0).tensor, "trainwarden/amp/skipped");
  EXPECT_EQ(verdict.evidence.at(0).quantity, "skipped_in_a_row");
  EXPECT_EQ(verdict.evidence.at(0).value, 3);
  EXPECT_FALSE(fires(good(110, 1024) + std::vector<Scaled>{{1024, true}, {512, true}} + good(5, 256)));
}

TEST(AmpOverflow, CalibrationIsAParameter) {
  EXPECT_TRUE(fires(std::vector<Scaled>{{1024, true}, {512, true}, {256, true}}, "AmpOverflow:calibration_steps=0"));
  EXPECT_FALSE(fires(std::vector<Scaled>{{1024, true}, {512, true}, {256, true}}, "AmpOverflow:calibration_steps=3"));
}

TEST(AmpOverflow, AScaleBelowOneFiresAtAnyTime) {
  const auto verdicts = judge(scaled_run(std::vector<Scaled>{{2, true}, {1, true}, {0.5, true}}), "AmpOverflow");
  EXPECT_EQ(steps_with(verdicts, Outcome::kOk), (Steps{0, 1}));
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{2}));
  EXPECT_EQ(verdicts.at(2).evidence.at(0).quantity, "scale");
  EXPECT_EQ(verdicts.at(2).evidence.at(0).threshold, 1);
}

TEST(AmpOverflow, MoreThanFiveHalvingsInAThousandSteps) {
  std::vector<Scaled> steps = good(150, 65536);
  for (double scale = 65536; scale > 2048; scale /= 2) steps = steps + halving(scale, 50);
  EXPECT_FALSE(fires(steps));
  steps = steps + halving(2048, 1);
  const auto verdicts = judge(scaled_run(steps), "AmpOverflow");
  EXPECT_EQ(steps_with(verdicts, Outcome::kFired), (Steps{static_cast<std::int64_t>(steps.size()) - 1}));
  EXPECT_EQ(verdicts.rbegin()->second.evidence.at(0).quantity, "halvings");
  EXPECT_EQ(verdicts.rbegin()->second.evidence.at(0).value, 6);
}

TEST(AmpOverflow, HalvingsThatTakeBackADoublingAreHowTheScalerWorks) {
  std::vector<Scaled> steps = good(150, 1024);
  for (int i = 0; i < 20; ++i) steps = steps + halving(2048, 20);
  EXPECT_FALSE(fires(steps));
}

TEST(AmpOverflow, OldHalvingsAreForgotten) {
  std::vector<Scaled> steps = good(150, 65536);
  for (double scale = 65536; scale > 256; scale /= 2) steps = steps + halving(scale, 300);
  EXPECT_FALSE(fires(steps));
}

TEST(AmpOverflow, SeveralScalerStepsWithinOneStepCount) {
  TestRun run;
  for (std::int64_t step = 0; step < 101; ++step) {
    run.add({.step = step, .tensors = {signal(signals::kAmpScale, 64), signal(signals::kAmpSkipped, 0)}});
  }
  run.add({.step = 101,
           .tensors = {signal(signals::kAmpScale, 64), signal("trainwarden/amp/scale#1", 32),
                       signal("trainwarden/amp/scale#2", 16), signal(signals::kAmpSkipped, 1),
                       signal("trainwarden/amp/skipped#1", 1), signal("trainwarden/amp/skipped#2", 1)}});
  EXPECT_EQ(judge(run, "AmpOverflow").at(101).outcome, Outcome::kFired);
}

TEST(AmpOverflow, SeveralOptimizersAtOneScaleCountOnce) {
  TestRun run;
  for (std::int64_t step = 0; step < 101; ++step) {
    run.add({.step = step, .tensors = {signal(signals::kAmpScale, 64), signal(signals::kAmpSkipped, 0)}});
  }
  run.add({.step = 101,
           .tensors = {signal(signals::kAmpScale, 64), signal("trainwarden/amp/scale#1", 64),
                       signal("trainwarden/amp/scale#2", 64), signal(signals::kAmpSkipped, 1),
                       signal("trainwarden/amp/skipped#1", 1), signal("trainwarden/amp/skipped#2", 1)}});
  EXPECT_EQ(judge(run, "AmpOverflow").at(101).outcome, Outcome::kOk);
}

TEST(AmpOverflow, WithoutAScalerOrANumberThereIsNothingToJudge) {
  TestRun run;
  run.add_steps(0, 0);
  EXPECT_EQ(judge(run, "AmpOverflow").at(0).outcome, Outcome::kNotApplicable);
  EXPECT_FALSE(fires({{NAN, true}, {NAN, true}, {NAN, true}, {NAN, true}}, "AmpOverflow:calibration_steps=0"));
}

}  // namespace
}  // namespace trainwarden::rules
