#include "judge/rules/builtin/profiler/phase_shares.h"

#include "judge/rules/builtin/profiler/phase_testing.h"

namespace trainwarden::rules {
namespace {

constexpr Phase kWait[] = {Phase::kDataWait};

PhaseShares shares_of(PhasedRun& run) {
  PhaseShares shares;
  const auto trial = run.run().open();
  for (const std::int64_t step : trial->steps()) shares.take(TrialWindow(*trial, step));
  return shares;
}

TEST(PhaseShares, TheFirstStepIsLeftOut) {
  PhasedRun run;
  run.step({{"data_wait", 100}, {"forward", 1}});
  run.steps(30, {{"data_wait", 0.25}, {"forward", 0.75}});
  const PhaseShares shares = shares_of(run);
  EXPECT_EQ(shares.divided_steps(), 30u);
  EXPECT_NEAR(shares.seconds(), 30, 1e-3);
  EXPECT_NEAR(shares.share(Phase::kDataWait).mean, 0.25, 1e-4);
  EXPECT_NEAR(shares.share(Phase::kForward).mean, 0.75, 1e-4);
  EXPECT_NEAR(shares.seconds_a_step(kWait), 0.25, 1e-3);
  EXPECT_TRUE(shares.has_seen(Phase::kDataWait));
  EXPECT_FALSE(shares.has_seen(Phase::kEvaluation));
}

TEST(PhaseShares, TotalsCountWhatWasNotWritten) {
  PhasedRun run;
  run.step({{"forward", 1}});
  for (int i = 0; i < 40; ++i) {
    const bool is_written = i % 4 == 3;  // the waits lie in steps that nobody wrote
    run.step({{"data_wait", is_written ? 0 : 1}, {"forward", 0.75}, {"backward", 0.25}}, 0, {}, is_written);
  }
  const PhaseShares shares = shares_of(run);
  EXPECT_EQ(shares.divided_steps(), 10u);
  EXPECT_NEAR(shares.steps(), 40, 1e-3);
  EXPECT_NEAR(shares.share(Phase::kDataWait).mean, 30.0 / 70, 1e-4);
  EXPECT_NEAR(shares.share(Phase::kForward).mean, 0.75 * 40 / 70, 1e-4);
}

TEST(PhaseShares, BoundsAreThoseOfTheQuarters) {
  PhasedRun run;
  run.step({{"forward", 1}});
  run.steps(50, {{"data_wait", 0.1}, {"forward", 0.9}});
  run.steps(50, {{"data_wait", 0.3}, {"forward", 0.7}});
  const ShareRange share = shares_of(run).share(Phase::kDataWait);
  EXPECT_NEAR(share.mean, 0.2, 1e-4);
  EXPECT_NEAR(share.low, 0.1, 1e-4);
  EXPECT_NEAR(share.high, 0.3, 1e-4);
}

TEST(PhaseShares, MemoryIsBoundedAndTheSumsStayExact) {
  PhaseShares shares;
  TimedStep step;
  step.total_wall = 0;
  shares.take({{"rank-00000", step}});
  for (int i = 1; i <= 100'000; ++i) {
    step.total_wall = i;
    step.total_steps = i;
    step.totals[0] = 0.5 * i;
    step.divided.emplace();
    step.divided->wall = 1;
    shares.take({{"rank-00000", step}});
  }
  EXPECT_NEAR(shares.seconds(), 100'000, 1e-6);
  EXPECT_NEAR(shares.share(Phase::kDataWait).mean, 0.5, 1e-9);
  EXPECT_NEAR(shares.share(Phase::kDataWait).low, 0.5, 1e-9);
}

TEST(PhaseShares, OfSeveralWorkersTheMedian) {
  PhasedRun run(3);
  for (int worker = 0; worker < 3; ++worker) run.step({{"forward", 1}}, worker);
  for (int i = 0; i < 20; ++i) {
    for (int worker = 0; worker < 3; ++worker) {
      run.step({{"data_wait", 0.1 * (worker + 1)}, {"forward", 1 - 0.1 * (worker + 1)}}, worker);
    }
  }
  const PhaseShares shares = shares_of(run);
  EXPECT_NEAR(shares.share(Phase::kDataWait).mean, 0.2, 1e-4);
  EXPECT_NEAR(shares.share("rank-00002", kWait).mean, 0.3, 1e-4);
  EXPECT_EQ(shares.share("rank-00007", kWait).mean, 0);
}

TEST(PhaseShares, ARunThatGoesOnBeginsItsSumsAnew) {
  PhaseShares shares;
  TimedStep step;
  for (const double wall : {10.0, 20.0, 5.0, 15.0}) {
    step.total_wall = wall;
    step.total_steps = wall;
    shares.take({{"rank-00000", step}});
  }
  EXPECT_NEAR(shares.seconds(), 20, 1e-9);
}

TEST(PhaseShares, StepsWithoutPhases) {
  TestRun run;
  run.add_steps(0, 3);
  const auto trial = run.open();
  PhaseShares shares;
  EXPECT_FALSE(shares.take(TrialWindow(*trial, 2)));
  EXPECT_EQ(shares.divided_steps(), 0u);
  EXPECT_EQ(shares.seconds(), 0);
}

}  // namespace
}  // namespace trainwarden::rules
