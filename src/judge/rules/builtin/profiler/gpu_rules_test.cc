// The rules about GPUs: LowGPUUtilization, LoadBalancing, GPUMemoryIncrease. Each fired, ok, without enough and without
// a GPU, and what was wrong in the originals.
#include <cmath>

#include "judge/rules/builtin/profiler/machine_testing.h"

namespace trainwarden::rules::gpu_rules_tests {
namespace {

const PhaseSeconds kSteps = {{"forward", 1.0}};

MachineValues gpus(const std::vector<double>& use) {
  MachineValues values = {{"cpu.busy", 1}};
  for (std::size_t i = 0; i < use.size(); ++i) values["gpu.utilisation@GPU-" + std::to_string(i)] = use[i];
  return values;
}

TEST(LowGPUUtilization, FiresForAGpuWithLittleToDo) {
  MachineRun run;
  run.train(60, kSteps, gpus({0.9, 0.4}));
  const Judged judged = judge_run(run, "LowGPUUtilization");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_EQ(judged.verdict().evidence.at(3).worker, "GPU-1");
  EXPECT_NEAR(evidence_value(judged.verdict(), "gpu_p95"), 40, 0.1);
  EXPECT_NEAR(evidence_value(judged.verdict(), "step_share"), 0.6, 1e-3);
  EXPECT_NEAR(evidence_value(judged.verdict(), "gain_max"), 2.5, 1e-2);
  EXPECT_NE(judged.verdict().message.find("has little to do"), std::string::npos);
}

TEST(LowGPUUtilization, FiresForOneThatIsIdleAtTimes) {
  MachineRun run;
  for (int i = 0; i < 20; ++i) {
    run.train(2.5, kSteps, gpus({0.95}));
    run.train(1.5, kSteps, gpus({0}));
  }
  const Judged judged = judge_run(run, "LowGPUUtilization");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_NE(judged.verdict().message.find("is idle at times"), std::string::npos);
}

TEST(LowGPUUtilization, IsSilentForABusyOne) {
  MachineRun run;
  run.train(60, kSteps, gpus({0.9}));
  run.end();
  EXPECT_EQ(judge_run(run, "LowGPUUtilization").status, RuleStatus::kNoIssuesFound);
}

TEST(LowGPUUtilization, WaitsForItsPatienceAndSaysSo) {
  MachineRun run;
  run.train(20, kSteps, gpus({0.4}));
  const Judged judged = judge_run(run, "LowGPUUtilization");
  EXPECT_TRUE(judged.fired.empty());
  EXPECT_TRUE(says(judged, "of 50 s are known")) << judged.details;
  run.end();
  EXPECT_EQ(judge_run(run, "LowGPUUtilization").fired.size(), 1u) << "a short run is judged at its end";
}

TEST(LowGPUUtilization, WithoutAGpu) {
  MachineRun run;
  run.train(60, kSteps, {{"cpu.busy", 1}});
  run.end();
  const Judged judged = judge_run(run, "LowGPUUtilization");
  EXPECT_EQ(judged.status, RuleStatus::kNotApplicable);
  EXPECT_TRUE(says(judged, "no GPU was sampled")) << judged.details;
}

// The original: max == 0 satisfies "low".
TEST(LowGPUUtilization, AGpuThatIsNeverUsedIsNotOneWithLittleToDo) {
  MachineRun run;
  run.train(60, kSteps, gpus({0.9, 0}));
  run.end();
  EXPECT_EQ(judge_run(run, "LowGPUUtilization").status, RuleStatus::kNoIssuesFound);
  MachineRun none;
  none.train(60, kSteps, gpus({0, 0}));
  none.end();
  const Judged judged = judge_run(none, "LowGPUUtilization");
  ASSERT_EQ(judged.fired.size(), 1u);
  EXPECT_EQ(judged.verdict().severity, Severity::kInfo);
}

// The original: the time in which a program starts counts.
TEST(LowGPUUtilization, TheTimeBeforeTheFirstStepIsLeftOut) {
  MachineRun run;
  run.run().start(0);
  run.rest(100, gpus({0.01}));
  run.train(60, kSteps, gpus({0.9}));
  run.end();
  const Judged judged = judge_run(run, "LowGPUUtilization");
  EXPECT_EQ(judged.status, RuleStatus::kNoIssuesFound) << judged.details;
}

TEST(LowGPUUtilization, ARunWithoutATrainingIsJudgedFromItsFirstSample) {
  MachineRun run;
  run.rest(60, gpus({0.3}));
  run.end();
  EXPECT_EQ(judge_run(run, "LowGPUUtilization").fired.size(), 1u);
}

// The use of two GPUs of which one follows the other.
void train_unevenly(MachineRun& run, double first, double second, double seconds = 60) {
  for (int i = 0; i < static_cast<int>(seconds); ++i) {
    const double wave = 0.02 * (i % 3);
    run.train(1, kSteps, gpus({first + wave, second + wave}));
  }
}

TEST(LoadBalancing, FiresForGpusWithDifferentWork) {
  MachineRun run;
  train_unevenly(run, 0.9, 0.4);
  const Judged judged = judge_run(run, "LoadBalancing");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_EQ(judged.verdict().evidence.at(3).worker, "GPU-1");
  EXPECT_NEAR(evidence_value(judged.verdict(), "distance"), std::sqrt(std::log(2.0)), 0.01);
  EXPECT_NEAR(evidence_value(judged.verdict(), "gain_max"), 0.92 / 0.67, 0.01);
}

TEST(LoadBalancing, IsSilentWhereTheyHaveTheSame) {
  MachineRun run;
  train_unevenly(run, 0.9, 0.9);
  run.end();
  EXPECT_EQ(judge_run(run, "LoadBalancing").status, RuleStatus::kNoIssuesFound);
}

TEST(LoadBalancing, WaitsForItsPatienceAndSaysSo) {
  MachineRun run;
  train_unevenly(run, 0.9, 0.4, 20);
  EXPECT_TRUE(says(judge_run(run, "LoadBalancing"), "of 50 s are known"));
  EXPECT_EQ(judge_run(run, "LoadBalancing:patience=10").fired.size(), 1u);
}

TEST(LoadBalancing, WithoutTwoGpusInUse) {
  MachineRun none;
  none.train(60, kSteps, {{"cpu.busy", 1}});
  none.end();
  EXPECT_TRUE(says(judge_run(none, "LoadBalancing"), "no GPU was sampled"));
  MachineRun one;
  one.train(60, kSteps, gpus({0.9, 0}));
  one.end();
  const Judged judged = judge_run(one, "LoadBalancing");
  EXPECT_EQ(judged.status, RuleStatus::kNotApplicable);
  EXPECT_TRUE(says(judged, "two GPUs in use")) << judged.details;
}

// The original leaves out what is above 98 %, and finds that far from everything else.
TEST(LoadBalancing, FullAndNearlyFullGpusAreEvenAndFullOnesAreCounted) {
  MachineRun run;
  train_unevenly(run, 0.96, 1.0);
  run.end();
  EXPECT_EQ(judge_run(run, "LoadBalancing").status, RuleStatus::kNoIssuesFound);
  MachineRun uneven;
  train_unevenly(uneven, 0.5, 1.0);
  EXPECT_EQ(judge_run(uneven, "LoadBalancing").fired.size(), 1u);
}

// The original compares the last GPU with itself alone.
TEST(LoadBalancing, AllPairsAreCompared) {
  MachineRun run;
  run.train(60, kSteps, gpus({0.3, 0.9, 0.9}));
  const Judged judged = judge_run(run, "LoadBalancing");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_EQ(judged.verdict().evidence.at(3).worker, "GPU-0");
}

MachineValues memory(double gigabytes) {
  return {{"cpu.busy", 1},
          {"gpu.memory.used@GPU-0", gigabytes * 1e9},
          {"gpu.memory.total@GPU-0", 80e9},
          {"gpu.utilisation@GPU-0", 0.9}};
}

TEST(GPUMemoryIncrease, FiresForAJump) {
  MachineRun run;
  run.train(150, kSteps, memory(20));
  run.train(60, kSteps, memory(40));
  const Judged judged = judge_run(run, "GPUMemoryIncrease");
  ASSERT_GE(judged.fired.size(), 1u) << judged.details;
  EXPECT_GT(evidence_value(judged.verdict(), "memory_increase"), 10);
}

TEST(GPUMemoryIncrease, FiresForASlowLeak) {
  MachineRun run;
  for (int i = 0; i < 300; ++i) run.train(1, kSteps, memory(20 + 0.02 * i));
  const Judged judged = judge_run(run, "GPUMemoryIncrease");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_EQ(judged.verdict().severity, Severity::kWarning);
  EXPECT_NEAR(evidence_value(judged.verdict(), "bytes_a_second"), 0.02e9, 2e6);
}

TEST(GPUMemoryIncrease, IsSilentWhereItStays) {
  MachineRun run;
  run.train(1, kSteps, memory(1));
  run.train(1, kSteps, memory(10));
  run.train(200, kSteps, memory(20));
  run.end();
  EXPECT_EQ(judge_run(run, "GPUMemoryIncrease").status, RuleStatus::kNoIssuesFound);
}

TEST(GPUMemoryIncrease, WithoutEnoughAndWithoutAGpu) {
  MachineRun run;
  run.train(60, kSteps, memory(20));
  run.end();
  EXPECT_TRUE(says(judge_run(run, "GPUMemoryIncrease"), "60 s of 100 s are known"))
      << judge_run(run, "GPUMemoryIncrease").details;
  MachineRun none;
  none.train(60, kSteps, {{"cpu.busy", 1}});
  none.end();
  EXPECT_TRUE(says(judge_run(none, "GPUMemoryIncrease"), "no GPU was sampled"));
}

// The original's windows have all but two samples in common: by its formula this rise of 15 % is one of 15 / 98.
TEST(GPUMemoryIncrease, AJumpCountsWholeAndNotByTheLengthOfTheWindow) {
  MachineRun run;
  run.train(150, kSteps, memory(20));
  run.train(60, kSteps, memory(32));
  EXPECT_GE(judge_run(run, "GPUMemoryIncrease:window=100").fired.size(), 1u);
}

}  // namespace
}  // namespace trainwarden::rules::gpu_rules_tests
