// OverallSystemUsage and ProfilerReport: what they say of a run as a whole.
#include "judge/rules/builtin/profiler/machine_testing.h"
#include "judge/rules/builtin/profiler/value_sketch.h"
#include "judge/rules/builtin/training/signal_testing.h"
#include "judge/rules/timeline/timeline.h"

namespace trainwarden::rules::profiler_report_tests {
namespace {

const PhaseSeconds kFed = {{"data_wait", 0.01}, {"forward", 0.99}};
const PhaseSeconds kWaiting = {{"data_wait", 0.6}, {"forward", 0.4}};

TEST(ValueSketch, QuantilesAreRightWithinOnePercent) {
  ValueSketch sketch;
  for (int i = 1; i <= 10'000; ++i) sketch.add(i * 1e3);
  EXPECT_NEAR(sketch.quantile(0.5), 5e6, 5e4);
  EXPECT_NEAR(sketch.quantile(0.99), 9.9e6, 1e5);
  EXPECT_EQ(sketch.quantile(1), 1e7);
  EXPECT_EQ(sketch.lowest(), 1e3);
  ValueSketch zeros;
  zeros.add(0);
  zeros.add(0);
  zeros.add(8);
  EXPECT_EQ(zeros.quantile(0.5), 0);
  EXPECT_EQ(zeros.count(), 3u);
}

// The rule's last answer, which no record keeps.
Verdict last_answer(MachineRun& run, const char* spec_text) {
  const auto rule = create_rule(*parse_rule_spec(spec_text));
  const auto trial = run.run().open();
  for (const std::int64_t step : trial->steps()) (void)(*rule)->evaluate(TrialWindow(*trial, step));
  Timeline timeline(*trial, run.run().clock());
  EXPECT_TRUE(timeline.add(*(*rule)->schedule()).ok());
  EXPECT_TRUE(timeline.refresh(true).ok());
  Verdict verdict = Verdict::error("it was not asked");
  for (auto due = timeline.next(); due.ok() && *due; due = timeline.next()) {
    verdict = (*rule)->evaluate_time(timeline.window(0, **due));
  }
  return verdict;
}

TEST(OverallSystemUsage, SaysHowMuchOfEachMachineWasInUse) {
  MachineRun run;
  run.train(30, kFed, {{"cpu.0.busy", 0.2}, {"cpu.1.busy", 0.6}, {"memory.used", 3}, {"memory.total", 4}});
  run.end();
  const Verdict verdict = last_answer(run, "OverallSystemUsage");
  EXPECT_EQ(verdict.outcome, Outcome::kOk);
  EXPECT_NEAR(evidence_value(verdict, "cpu_p95"), 40, 0.5);
  EXPECT_NEAR(evidence_value(verdict, "memory_p95"), 75, 0.8);
  EXPECT_NE(verdict.message.find("node1: cpu "), std::string::npos) << verdict.message;
  EXPECT_EQ(verdict.message.find("gpu"), std::string::npos) << "what was not sampled is not there";
  EXPECT_EQ(judge_run(run, "OverallSystemUsage").status, RuleStatus::kNoIssuesFound);
}

TEST(OverallSystemUsage, WithoutSamplesThereIsNothingToSay) {
  MachineRun run;
  run.run().add_steps(0, 10);
  run.run().end();
  EXPECT_EQ(judge_run(run, "OverallSystemUsage").status, RuleStatus::kNotApplicable);
}

MachineValues machine() {
  return {{"cpu.busy", 1.2},      {"cpu.effective", 8},      {"tree.cpu.user", 1.2},
          {"tree.cpu.system", 0}, {"pressure.io.some", 0.0}, {"tree.io.read", 0}};
}

TEST(ProfilerReport, SaysTheFindingThatGainsMostWhenTheRunHasEnded) {
  MachineRun run;
  run.say(text_signal("trainwarden/loader", R"({"workers": 1})"));
  run.train(60, kWaiting, machine());
  EXPECT_TRUE(judge_run(run, "ProfilerReport").fired.empty()) << "the run goes on";
  run.end();
  const Judged judged = judge_run(run, "ProfilerReport");
  ASSERT_EQ(judged.fired.size(), 1u) << judged.details;
  const Verdict& verdict = judged.verdict();
  EXPECT_EQ(verdict.message.rfind("Dataloader: The training waits", 0), 0u) << verdict.message;
  EXPECT_EQ(evidence_value(verdict, "findings"), 1) << "InputBound is explained by Dataloader";
  EXPECT_NEAR(evidence_value(verdict, "gain"), 2.5, 0.1);
  EXPECT_NE(verdict.advice.find("num_workers"), std::string::npos);
}

TEST(ProfilerReport, IsSilentOnAHealthyRun) {
  MachineRun run;
  run.say(text_signal("trainwarden/loader", R"({"workers": 6})"));
  run.train(60, kFed, machine());
  run.end();
  const Judged judged = judge_run(run, "ProfilerReport");
  EXPECT_EQ(judged.status, RuleStatus::kNoIssuesFound) << judged.details;
}

TEST(ProfilerReport, WithoutAnythingToJudgeItSaysSo) {
  MachineRun run;
  run.rest(3, {{"cpu.busy", 1}});
  run.end();
  EXPECT_TRUE(says(judge_run(run, "ProfilerReport"), "rules had enough to judge by"))
      << judge_run(run, "ProfilerReport").details;
}

TEST(ProfilerReport, HandsParametersOnInAnyCase) {
  MachineRun run;
  run.say(text_signal("trainwarden/loader", R"({"workers": 1})"));
  run.train(60, kWaiting, machine());
  run.end();
  const Judged judged =
      judge_run(run, "ProfilerReport:DATALOADER_wait_threshold=0.9,inputbound_Threshold=0.9,opt_out_telemetry=True");
  EXPECT_TRUE(judged.fired.empty()) << judged.details;
}

TEST(ProfilerReport, NamesWhatIsWrongWithAParameter) {
  const auto problem = [](const char* spec) { return parse_rule_spec(spec).status().to_string(); };
  EXPECT_NE(problem("ProfilerReport:CPUBotleneck_threshold=1").find("CPUBottleneck_threshold"), std::string::npos);
  EXPECT_NE(problem("ProfilerReport:CPUBottleneck_treshold=1").find("\"threshold\""), std::string::npos)
      << problem("ProfilerReport:CPUBottleneck_treshold=1");
  EXPECT_NE(problem("ProfilerReport:threshold=1").find("name of a rule"), std::string::npos);
  const auto spec = parse_rule_spec("ProfilerReport:CPUBottleneck_threshold=much");
  ASSERT_TRUE(spec.ok()) << spec.status().to_string();
  EXPECT_EQ(create_rule(*spec).status().code(), Code::kInvalidArgument);
}

TEST(ProfilerRules, AreFoundAsSageMakerSpellsThem) {
  for (const char* const name : {"BatchSize", "batch_size", "CPUBottleneck", "cpu_bottleneck", "GPUMemoryIncrease",
                                 "IOBottleneck", "LoadBalancing", "LowGPUUtilization", "low_gpu_utilization",
                                 "OverallSystemUsage", "Dataloader", "DataLoader", "ProfilerReport"}) {
    EXPECT_TRUE(parse_rule_spec(name).ok()) << name;
  }
  // As rule_configs of its SDK gives them.
  for (const char* const spec :
       {"BatchSize:cpu_threshold_p95=70,gpu_threshold_p95=70,gpu_memory_threshold_p95=70,patience=1000,window=500,"
        "scan_interval_us=60000000",
        "CPUBottleneck:threshold=50,gpu_threshold=10,cpu_threshold=90,patience=1000,scan_interval_us=60000000",
        "Dataloader:min_threshold=70,max_threshold=200,scan_interval_us=60000000",
        "GPUMemoryIncrease:increase=5,patience=1000,window=10,scan_interval_us=60000000",
        "IOBottleneck:threshold=50,gpu_threshold=10,io_threshold=50,patience=1000,scan_interval_us=60000000",
        "LoadBalancing:threshold=0.5,patience=1000,scan_interval_us=60000000",
        "LowGPUUtilization:threshold_p95=70,threshold_p5=10,window=500,patience=1000,scan_interval_us=60000000",
        "OverallSystemUsage:scan_interval_us=60000000"}) {
    const auto parsed = parse_rule_spec(spec);
    ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
    EXPECT_TRUE(create_rule(*parsed).ok()) << spec;
  }
}

}  // namespace
}  // namespace trainwarden::rules::profiler_report_tests
