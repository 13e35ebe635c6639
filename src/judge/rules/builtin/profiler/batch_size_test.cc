#include "judge/rules/builtin/profiler/machine_testing.h"
#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules::batch_size_tests {
namespace {

const PhaseSeconds kComputing = {{"forward", 0.5}, {"backward", 0.4}, {"optimizer", 0.1}};

MachineValues with_gpu(double use, double memory, double cores = 0.3) {
  return {{"cpu.busy", cores},
          {"cpu.0.busy", cores},
          {"gpu.utilisation@GPU-0", use},
          {"gpu.memory.used@GPU-0", memory},
          {"gpu.memory.total@GPU-0", 1}};
}

MachineValues without_gpu(double used) {
  return {{"cpu.busy", 1}, {"cpu.0.busy", 1}, {"cpu.effective", 4}, {"tree.cpu.user", used}, {"tree.cpu.system", 0}};
}

// A step of a tenth of a second: `count` calls of `call_ns` each, evenly within its first nine tenths.
OperatorBatch calls_of(std::int64_t step, std::int64_t count, std::int64_t call_ns) {
  OperatorBatch batch;
  batch.global_step = step;
  batch.mode = Mode::kTrain;
  batch.names = {"aten::addmm", "Optimizer.step#SGD.step"};
  batch.tracks = {{"thread 1", 1, false}};
  const std::int64_t begin = 1'700'000'000'000'000'000 + step * 100'000'000;
  for (std::int64_t i = 0; i < count; ++i) {
    batch.calls.push_back({0, 0, OperatorKind::kOperator, begin + i * (90'000'000 / count), call_ns, -1});
  }
  batch.calls.push_back({1, 0, OperatorKind::kUser, begin + 90'000'000, 10'000'000, -1});
  batch.calls.push_back({0, 0, OperatorKind::kOperator, begin + 91'000'000, 8'000'000, -1});
  return batch;
}

void record_operators(MachineRun& run, std::int64_t count, std::int64_t call_ns) {
  for (std::int64_t step = 5; step < 10; ++step) run.operators(calls_of(step, count, call_ns));
}

TEST(BatchSize, FiresWhereGpuMemoryAndProcessorsAllHaveRoom) {
  MachineRun run;
  run.say(scalar("trainwarden/batch/size", 8, {"signals"}));
  run.train(60, kComputing, with_gpu(0.4, 0.2));
  const Judged judged = judge_run(run, "BatchSize");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_NEAR(evidence_value(judged.verdict(), "gpu_p95"), 40, 0.1);
  EXPECT_NEAR(evidence_value(judged.verdict(), "gain_max"), 2.5, 0.01);
  EXPECT_NE(judged.verdict().message.find("than 8 samples"), std::string::npos) << judged.verdict().message;
}

TEST(BatchSize, IsSilentWhereAnyOfThemIsFull) {
  for (const MachineValues& values : {with_gpu(0.8, 0.2), with_gpu(0.4, 0.8), with_gpu(0.4, 0.2, 0.9)}) {
    MachineRun run;
    run.train(60, kComputing, values);
    run.end();
    EXPECT_EQ(judge_run(run, "BatchSize").status, RuleStatus::kNoIssuesFound);
  }
}

// The original: a training that waits for its data has room everywhere, and is told to have larger batches.
TEST(BatchSize, ATrainingThatWaitsHasNoSmallBatches) {
  MachineRun run;
  run.train(60, {{"data_wait", 0.6}, {"forward", 0.4}}, with_gpu(0.4, 0.2));
  run.end();
  EXPECT_EQ(judge_run(run, "BatchSize").status, RuleStatus::kNoIssuesFound);
}

// The original divides by the cores of all machines: 0.9 of one core, of five that both have.
TEST(BatchSize, EachMachineHasItsOwnProcessors) {
  MachineRun run;
  MachineValues many = with_gpu(0.4, 0.2, 0.9);
  for (const char* const core : {"cpu.1.busy", "cpu.2.busy", "cpu.3.busy", "cpu.4.busy"}) many[core] = 0.9;
  for (int i = 0; i < 120; ++i) {
    run.train(0.5, kComputing, with_gpu(0.4, 0.2, 0.9));
    run.sample(many, -2, "node2");
  }
  run.end();
  run.run().end(-2);
  EXPECT_EQ(judge_run(run, "BatchSize").status, RuleStatus::kNoIssuesFound);
}

TEST(BatchSize, FiresForStepsThatAreMostlyOverheadOnProcessors) {
  MachineRun run;
  run.train(30, kComputing, without_gpu(1));
  record_operators(run, 9000, 3000);  // 27 ms of calls, as many times 3 µs
  run.end();
  const Judged judged = judge_run(run, "BatchSize");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  const Verdict& verdict = judged.verdict();
  EXPECT_NEAR(evidence_value(verdict, "overhead_share"), 1, 0.01) << "all calls take what a call takes";
  EXPECT_NEAR(evidence_value(verdict, "calls"), 9000, 1);
  EXPECT_NEAR(evidence_value(verdict, "call_seconds"), 3e-6, 1e-9);
  EXPECT_NEAR(evidence_value(verdict, "between_seconds"), 0.063, 1e-3);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 16, 0.5);
  EXPECT_NEAR(evidence_value(verdict, "gain_min"), 4, 0.05) << "of batches four times as large";
}

TEST(BatchSize, ACallComputesWhatItTakesLongerThanOthers) {
  MachineRun run;
  run.train(30, kComputing, without_gpu(1));
  record_operators(run, 2000, 30'000);  // 60 ms of calls, of which 40 are fixed, and 10 at least
  run.end();
  const Judged judged = judge_run(run, "BatchSize");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  const Verdict& verdict = judged.verdict();
  EXPECT_NEAR(evidence_value(verdict, "overhead_share"), 0.8, 0.01);
  EXPECT_NEAR(evidence_value(verdict, "overhead_share_min"), 0.5, 0.01);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1 / (1 - 0.8 * 15 / 16), 0.1);
  EXPECT_NEAR(evidence_value(verdict, "gain_min"), 1 / (1 - 0.5 * 3 / 4), 0.05);
}

TEST(BatchSize, IsSilentWhereOperatorsComputeOnProcessors) {
  MachineRun run;
  run.train(30, kComputing, without_gpu(1));
  record_operators(run, 100, 850'000);  // 85 of 100 ms
  run.end();
  const Judged judged = judge_run(run, "BatchSize");
  EXPECT_EQ(judged.status, RuleStatus::kNoIssuesFound) << judged.details;
}

TEST(BatchSize, IsSilentWhereAllProcessorsAreUsed) {
  MachineRun run;
  run.train(30, kComputing, without_gpu(3.5));
  record_operators(run, 9000, 3000);
  run.end();
  EXPECT_EQ(judge_run(run, "BatchSize").status, RuleStatus::kNoIssuesFound);
}

TEST(BatchSize, WithoutEnoughAndWithoutASignal) {
  MachineRun run;
  run.train(20, kComputing, without_gpu(1));
  EXPECT_TRUE(says(judge_run(run, "BatchSize"), "of 50 s are known")) << judge_run(run, "BatchSize").details;
  run.end();
  EXPECT_TRUE(says(judge_run(run, "BatchSize"), "trainwarden profile RUN")) << judge_run(run, "BatchSize").details;
  MachineRun none;
  none.train(20, kComputing, {{"cpu.busy", 0.4}, {"cpu.0.busy", 0.4}});
  none.end();
  const Judged judged = judge_run(none, "BatchSize");
  EXPECT_EQ(judged.status, RuleStatus::kNotApplicable);
  EXPECT_TRUE(says(judged, "neither tree.cpu.user nor cpu.effective")) << judged.details;
}

}  // namespace
}  // namespace trainwarden::rules::batch_size_tests
