#include "judge/rules/builtin/profiler/machine_testing.h"

namespace trainwarden::rules::cpu_bottleneck_tests {
namespace {

const PhaseSeconds kComputing = {{"forward", 1.0}};

MachineValues values(double gpu, double first_core, double second_core = 0.1) {
  return {{"cpu.busy", first_core + second_core},
          {"cpu.0.busy", first_core},
          {"cpu.1.busy", second_core},
          {"gpu.utilisation@GPU-0", gpu}};
}

// Alternates between what makes a bottleneck and what does not.
void train(MachineRun& run, double bottleneck_share, const PhaseSeconds& phases, double seconds = 60) {
  for (int i = 0; i < static_cast<int>(seconds / 5); ++i) {
    run.train(5 * bottleneck_share, phases, values(0.02, 0.99));
    run.train(5 * (1 - bottleneck_share), phases, values(0.9, 0.3));
  }
}

TEST(CPUBottleneck, FiresWhereTheGpuWaitsWhileAProcessorIsFull) {
  MachineRun run;
  train(run, 0.6, {{"data_wait", 0.4}, {"forward", 0.6}});
  const Judged judged = judge_run(run, "CPUBottleneck");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  const Verdict& verdict = judged.verdict();
  const double share = evidence_value(verdict, "step_share");
  EXPECT_NEAR(share, 0.6, 0.1) << "a half second in which it begins or ends is none";
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1 / 0.6, 0.05) << "what it waits for data";
  EXPECT_EQ(evidence_value(verdict, "gain_min"), 1);
  EXPECT_NEAR(evidence_value(verdict, "gain_max"), 1 / (1 - share), 1e-6) << "the share of idleness";
}

TEST(CPUBottleneck, WithoutPhasesThereIsABoundAndNoGain) {
  MachineRun run;
  train(run, 0.6, kComputing);
  const Judged judged = judge_run(run, "CPUBottleneck");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  for (const Evidence& evidence : judged.verdict().evidence) EXPECT_NE(evidence.quantity, "gain");
  EXPECT_NEAR(evidence_value(judged.verdict(), "gain_max"), 1 / (1 - evidence_value(judged.verdict(), "step_share")),
              1e-6);
}

TEST(CPUBottleneck, IsSilentBelowItsThreshold) {
  MachineRun run;
  train(run, 0.4, kComputing);
  run.end();
  EXPECT_EQ(judge_run(run, "CPUBottleneck").status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(judge_run(run, "CPUBottleneck:threshold=30").fired.size(), 1u);
}

TEST(CPUBottleneck, AnIdleGpuWithIdleProcessorsIsNone) {
  MachineRun run;
  run.train(2, kComputing, values(0.9, 0.9));
  run.train(60, kComputing, values(0.02, 0.3));
  run.end();
  EXPECT_EQ(judge_run(run, "CPUBottleneck").status, RuleStatus::kNoIssuesFound);
}

TEST(CPUBottleneck, WithoutEnoughAndWithoutAGpu) {
  MachineRun run;
  train(run, 0.6, kComputing, 30);
  EXPECT_TRUE(says(judge_run(run, "CPUBottleneck"), "of 50 s are known"));
  MachineRun none;
  none.train(60, kComputing, {{"cpu.busy", 1}, {"cpu.0.busy", 1}});
  none.end();
  const Judged judged = judge_run(none, "CPUBottleneck");
  EXPECT_EQ(judged.status, RuleStatus::kNotApplicable);
  EXPECT_TRUE(says(judged, "no GPU was sampled")) << judged.details;
}

// The original: low GPU on machine a with a busy core on machine b counts.
TEST(CPUBottleneck, MachinesAreNotMixed) {
  MachineRun run;
  run.train(0.5, kComputing, values(0.9, 0.3));
  for (int i = 0; i < 120; ++i) {
    run.train(0.5, kComputing, values(0.02, 0.3));
    run.sample(values(0.9, 0.99), -2, "node2");
  }
  run.end();
  run.run().end(-2);
  EXPECT_EQ(judge_run(run, "CPUBottleneck").status, RuleStatus::kNoIssuesFound);
}

// The original: no core is above 90 %, as the kernel moves the thread between them.
TEST(CPUBottleneck, AThreadThatMovesBetweenProcessorsCounts) {
  MachineRun run;
  MachineValues moving = values(0.02, 0.55, 0.5);
  moving["process.cpu.user@12 python"] = 0.95;
  moving["process.cpu.system@12 python"] = 0.04;
  run.train(1, kComputing, values(0.9, 0.3));
  run.train(60, kComputing, moving);
  EXPECT_EQ(judge_run(run, "CPUBottleneck").fired.size(), 1u);
}

// The original: what was long ago counts as what is now, so that a bottleneck after hours takes as many hours to show.
TEST(CPUBottleneck, TheLastTenMinutesCount) {
  MachineRun run;
  run.train(1200, kComputing, values(0.9, 0.3));
  run.train(400, kComputing, values(0.02, 0.99));
  EXPECT_EQ(judge_run(run, "CPUBottleneck").fired.size(), 1u);
}

}  // namespace
}  // namespace trainwarden::rules::cpu_bottleneck_tests
