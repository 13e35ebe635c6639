#include "judge/rules/builtin/profiler/machine_testing.h"
#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules::dataloader_tests {
namespace {

const PhaseSeconds kWaiting = {{"data_wait", 0.6}, {"forward", 0.4}};
const PhaseSeconds kFed = {{"data_wait", 0.01}, {"forward", 0.99}};

// A training on `processors` of which it uses some.
MachineValues machine(double processors, double used) {
  return {{"cpu.busy", used}, {"cpu.effective", processors}, {"tree.cpu.user", used}, {"tree.cpu.system", 0}};
}

void say_workers(MachineRun& run, int workers) {
  run.say(text_signal("trainwarden/loader", "{\"workers\": " + std::to_string(workers) + "}"));
}

TEST(Dataloader, FiresForOneWorkerWhereMoreWouldHaveAPlace) {
  MachineRun run;
  say_workers(run, 1);
  run.train(20, kWaiting, machine(8, 1.2));
  const Judged judged = judge_run(run, "Dataloader");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  const Verdict& verdict = judged.verdict();
  EXPECT_EQ(evidence_value(verdict, "loaders"), 1);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 2.5, 0.05);
  EXPECT_NEAR(evidence_value(verdict, "gain_min"), 2, 0.05) << "with one more";
  EXPECT_NE(verdict.advice.find("num_workers=3"), std::string::npos) << verdict.advice;
}

TEST(Dataloader, FiresForALoaderWithoutWorkers) {
  MachineRun run;
  say_workers(run, 0);
  run.train(20, kWaiting, machine(8, 1));
  const Judged judged = judge_run(run, "Dataloader");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_NEAR(evidence_value(judged.verdict(), "gain"), 2.5, 0.05);
  EXPECT_NE(judged.verdict().advice.find("num_workers=2"), std::string::npos) << judged.verdict().advice;
}

TEST(Dataloader, TheProcessorsThatAreLeftBoundTheGain) {
  MachineRun run;
  say_workers(run, 1);
  run.train(20, kWaiting, machine(2, 1.4));
  const Judged judged = judge_run(run, "Dataloader");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_NEAR(evidence_value(judged.verdict(), "gain"), 2 / 1.4, 0.02);
}

// The original: fewer workers than 70 % of the cores are too few, though the training waits for nothing.
TEST(Dataloader, FewWorkersThatKeepUpAreEnough) {
  MachineRun run;
  say_workers(run, 1);
  run.train(20, kFed, machine(64, 2));
  run.end();
  EXPECT_EQ(judge_run(run, "Dataloader").status, RuleStatus::kNoIssuesFound);
}

TEST(Dataloader, WhereAllProcessorsAreFullMoreWorkersAreNoAdvice) {
  MachineRun run;
  say_workers(run, 1);
  run.train(20, kWaiting, machine(2, 1.95));
  run.end();
  EXPECT_EQ(judge_run(run, "Dataloader").status, RuleStatus::kNoIssuesFound);
}

// The original counts the cores of the machine; a container may have two of its 64.
TEST(Dataloader, FiresForMoreWorkersThanTheTrainingMayUseProcessors) {
  MachineRun run;
  say_workers(run, 8);
  run.train(20, kFed, machine(2, 2));
  const Judged judged = judge_run(run, "Dataloader");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_EQ(judged.verdict().severity, Severity::kWarning);
  EXPECT_NE(judged.verdict().advice.find("num_workers=2"), std::string::npos) << judged.verdict().advice;
  for (const Evidence& evidence : judged.verdict().evidence) EXPECT_NE(evidence.quantity, "gain");
  MachineRun idle;
  say_workers(idle, 8);
  idle.train(20, kFed, machine(2, 0.5));
  EXPECT_EQ(judge_run(idle, "Dataloader").verdict().severity, Severity::kInfo);
}

// Of runs that say nothing of their loaders: the busy processes beside the one with the most threads.
TEST(Dataloader, WithoutTheLoadersWordItsProcessesAreCounted) {
  MachineRun run;
  MachineValues values = machine(8, 1.4);
  values["process.threads@10 python"] = 9;
  values["process.cpu.user@10 python"] = 0.4;
  for (const char* const name : {"11 python", "12 python"}) {
    values[std::string("process.threads@") + name] = 1;
    values[std::string("process.cpu.user@") + name] = 0.5;
  }
  values["process.threads@13 python"] = 1;
  values["process.cpu.user@13 python"] = 0;
  run.train(20, kWaiting, values);
  const Judged judged = judge_run(run, "Dataloader");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  EXPECT_EQ(evidence_value(judged.verdict(), "loaders"), 2);
}

TEST(Dataloader, WithoutEnoughAndWithoutADataLoader) {
  MachineRun run;
  say_workers(run, 1);
  run.train(9.5, kWaiting, machine(8, 1.2));
  EXPECT_TRUE(says(judge_run(run, "Dataloader"), "of 10 s are known")) << judge_run(run, "Dataloader").details;
  run.end();
  EXPECT_EQ(judge_run(run, "Dataloader").fired.size(), 1u) << "a short run is judged at its end";
  MachineRun none;
  none.train(20, {{"forward", 1.0}}, machine(8, 1.2));
  none.end();
  const Judged judged = judge_run(none, "Dataloader");
  EXPECT_EQ(judged.status, RuleStatus::kNotApplicable);
  EXPECT_TRUE(says(judged, "no data loader was seen")) << judged.details;
}

}  // namespace
}  // namespace trainwarden::rules::dataloader_tests
