#include <cmath>

#include "judge/rules/builtin/profiler/machine_testing.h"

namespace trainwarden::rules::io_bottleneck_tests {
namespace {

const PhaseSeconds kWaiting = {{"data_wait", 0.6}, {"forward", 0.4}};

MachineValues disk(double pressure, double read = 1e6) {
  return {{"cpu.busy", 0.4}, {"pressure.io.some", pressure}, {"tree.io.read", read}, {"disk.sda.busy", 0.9}};
}

TEST(IOBottleneck, FiresWhereTheTrainingWaitsForADiskWithoutAnyGpu) {
  MachineRun run;
  run.train(60, kWaiting, disk(0.95));
  const Judged judged = judge_run(run, "IOBottleneck");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  const Verdict& verdict = judged.verdict();
  EXPECT_NEAR(evidence_value(verdict, "step_share"), 0.6, 0.02);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 2.5, 0.1);
  EXPECT_NEAR(evidence_value(verdict, "gain_min"), 1 / (1 - 0.55), 0.1);
  EXPECT_NEAR(evidence_value(verdict, "gain_max"), 2.5, 0.1);
  EXPECT_NEAR(evidence_value(verdict, "io_pressure"), 0.95, 0.02);
  EXPECT_NE(verdict.advice.find("Read less"), std::string::npos);
}

TEST(IOBottleneck, FiresForCheckpointsOnASlowDisk) {
  MachineRun run;
  for (int i = 0; i < 20; ++i) {
    run.train(2, {{"forward", 1.0}}, disk(0, 0));
    run.train(1, {{"forward", 0.2}, {"checkpoint", 0.8}}, disk(0.9, 0));
  }
  const Judged judged = judge_run(run, "IOBottleneck");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_GT(evidence_value(judged.verdict(), "checkpoint_share"), 0.15);
  EXPECT_NE(judged.verdict().advice.find("Save less often"), std::string::npos);
}

TEST(IOBottleneck, WaitsThatGoWithNoDiskAreNone) {
  MachineRun run;
  run.train(60, kWaiting, disk(0.02));
  run.end();
  EXPECT_EQ(judge_run(run, "IOBottleneck").status, RuleStatus::kNoIssuesFound);
}

// The original: a disk that is busy while a GPU has little to do is one, whatever the training waits for.
TEST(IOBottleneck, ABusyDiskForWhichTheTrainingDoesNotWaitIsNone) {
  MachineRun run;
  MachineValues values = disk(0.95);
  values["cpu.0.iowait"] = 0.9;
  values["gpu.utilisation@GPU-0"] = 0.05;
  run.train(60, {{"data_wait", 0.01}, {"forward", 0.99}}, values);
  run.end();
  EXPECT_EQ(judge_run(run, "IOBottleneck").status, RuleStatus::kNoIssuesFound);
}

TEST(IOBottleneck, PressureOfOthersWhileTheTrainingReadsNothingIsNone) {
  MachineRun run;
  run.train(60, kWaiting, disk(0.9, 0));
  run.end();
  EXPECT_EQ(judge_run(run, "IOBottleneck").status, RuleStatus::kNoIssuesFound);
}

TEST(IOBottleneck, WithoutPressureTheWaitsOfCoresCount) {
  MachineRun run;
  run.train(60, kWaiting, {{"cpu.busy", 0.4}, {"cpu.0.iowait", 0.1}, {"cpu.1.iowait", 0.8}});
  EXPECT_EQ(judge_run(run, "IOBottleneck").fired.size(), 1u);
}

// The kernel means pressure over the processors that are not idle: one that spins hides a half of it.
TEST(IOBottleneck, ABusyProcessorHidesPressure) {
  MachineRun run;
  MachineValues values = disk(0.3);
  values["cpu.0.busy"] = 1.0;
  values["cpu.1.busy"] = 0.4;
  values["cpu.1.iowait"] = 0.2;
  run.train(60, kWaiting, values);
  const Judged judged = judge_run(run, "IOBottleneck");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  const Verdict& verdict = judged.verdict();
  const double pressure = 0.3 * std::sqrt(1.6);  // 1.6 processors are not idle
  EXPECT_NEAR(evidence_value(verdict, "io_pressure"), pressure, 0.01);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1 / (1 - pressure), 0.03);
  values["cpu.1.iowait"] = 0.5;
  MachineRun waiting;
  waiting.train(60, kWaiting, values);
  EXPECT_NEAR(evidence_value(judge_run(waiting, "IOBottleneck").verdict(), "io_pressure"), std::sqrt(0.5 * 0.57), 0.01);
}

TEST(IOBottleneck, WithoutPhasesItsOriginalFormulaJudges) {
  MachineRun run;
  run.rest(1, {{"cpu.busy", 0.4}, {"cpu.0.iowait", 0.8}, {"gpu.utilisation@GPU-0", 0.9}});
  run.rest(60, {{"cpu.busy", 0.4}, {"cpu.0.iowait", 0.8}, {"gpu.utilisation@GPU-0", 0.05}});
  const Judged judged = judge_run(run, "IOBottleneck");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_GT(evidence_value(judged.verdict(), "bottleneck_share"), 0.9);
}

// The original: low GPU on machine a with waits for disks on machine b counts.
TEST(IOBottleneck, MachinesAreNotMixed) {
  MachineRun run;
  run.rest(0.5, {{"cpu.busy", 0.4}, {"cpu.0.iowait", 0}, {"gpu.utilisation@GPU-0", 0.9}});
  for (int i = 0; i < 120; ++i) {
    run.rest(0.5, {{"cpu.busy", 0.4}, {"cpu.0.iowait", 0}, {"gpu.utilisation@GPU-0", 0.05}});
    run.sample({{"cpu.busy", 0.4}, {"cpu.0.iowait", 0.9}, {"gpu.utilisation@GPU-0", 0.9}}, -2, "node2");
  }
  run.end();
  run.run().end(-2);
  EXPECT_EQ(judge_run(run, "IOBottleneck").status, RuleStatus::kNoIssuesFound);
}

TEST(IOBottleneck, WithoutEnoughAndWithoutASignal) {
  MachineRun run;
  run.train(20, kWaiting, disk(0.95));
  EXPECT_TRUE(says(judge_run(run, "IOBottleneck"), "of 50 s are known")) << judge_run(run, "IOBottleneck").details;
  run.end();
  EXPECT_EQ(judge_run(run, "IOBottleneck").fired.size(), 1u) << "a short run is judged at its end";
  MachineRun none;
  none.train(60, kWaiting, {{"cpu.busy", 0.4}});
  none.end();
  const Judged judged = judge_run(none, "IOBottleneck");
  EXPECT_EQ(judged.status, RuleStatus::kNotApplicable);
  EXPECT_TRUE(says(judged, "nothing was sampled that tells of waits for a disk")) << judged.details;
}

}  // namespace
}  // namespace trainwarden::rules::io_bottleneck_tests
