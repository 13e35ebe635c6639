// The rules that look at recorded operators: HiddenSynchronisation, SmallKernels, and what they count.
#include <algorithm>
#include <tuple>

#include "judge/rules/builtin/profiler/host_calls.h"
#include "judge/rules/builtin/profiler/phase_testing.h"
#include "judge/rules/builtin/profiler/table_updates.h"

namespace trainwarden::rules {
namespace {

constexpr std::int64_t kUs = 1000;

// Calls of one thread, and of one device, in microseconds.
class Calls {
 public:
  Calls() { batch_.tracks = {{"thread 1", 1, false}, {"GPU-0 stream 7", 7, true}}; }
  void call(const std::string& name, std::int64_t start, std::int64_t duration,
            OperatorKind kind = OperatorKind::kOperator, std::uint32_t track = 0) {
    std::uint32_t index = 0;
    while (index < batch_.names.size() && batch_.names[index] != name) ++index;
    if (index == batch_.names.size()) batch_.names.push_back(name);
    batch_.calls.push_back({index, track, kind, start * kUs, duration * kUs, -1});
  }
  // `count` reads, one in every `apart`, from `start` on.
  void reads(std::int64_t count, std::int64_t start, std::int64_t apart) {
    for (std::int64_t i = 0; i < count; ++i) {
      call("aten::item", start + i * apart, 4);
      call("aten::_local_scalar_dense", start + i * apart + 1, 2);
    }
  }
  OperatorBatch at(std::int64_t step) {
    batch_.global_step = step;
    batch_.mode = Mode::kTrain;
    std::stable_sort(batch_.calls.begin(), batch_.calls.end(), [](const OperatorCall& a, const OperatorCall& b) {
      return std::make_tuple(a.track, a.start_unix_ns, -a.duration_ns) <
             std::make_tuple(b.track, b.start_unix_ns, -b.duration_ns);
    });
    return batch_;
  }

 private:
  OperatorBatch batch_;
};

TEST(ScalarReads, ARunCostsWhatLiesBetween) {
  Calls calls;
  calls.call("aten::addmm", 0, 500);
  calls.reads(101, 1000, 20);
  const ScalarReads found = scalar_reads(calls.at(0));
  EXPECT_EQ(found.reads, 101u);
  EXPECT_EQ(found.reads_in_runs, 101u);
  // Two thousand microseconds, a hundred distances and one more, less what recording two calls each took.
  EXPECT_NEAR(static_cast<double>(found.runs_ns), (2002 - 200 * 0.3) * 1.01 * kUs, 30.0 * kUs);
  EXPECT_EQ(found.waited_ns, 202 * kUs);
}

TEST(ScalarReads, TakingATensorApartForALoopIsPartOfIt) {
  Calls calls;
  calls.call("aten::addmm", 0, 500);
  calls.call("aten::unbind", 600, 300);
  calls.reads(101, 1000, 20);
  const auto runs_ns = static_cast<double>(scalar_reads(calls.at(0)).runs_ns);
  EXPECT_NEAR(runs_ns, (2402 - 201 * 0.3) * 1.01 * kUs, 30.0 * kUs);
  Calls apart;
  apart.call("aten::unbind", 0, 300);
  apart.reads(101, 5000, 20);
  EXPECT_NEAR(static_cast<double>(scalar_reads(apart.at(0)).runs_ns), (2002 - 200 * 0.3) * 1.01 * kUs, 30.0 * kUs);
}

TEST(ScalarReads, RecordingTakesNoMoreThanACallThatOnlyCallsAnother) {
  Calls calls;
  for (std::int64_t i = 0; i < 101; ++i) {
    calls.call("aten::item", i * 20, 5);
    calls.call("aten::_local_scalar_dense", i * 20, 5);  // so there is nothing left for recording it
  }
  EXPECT_NEAR(static_cast<double>(scalar_reads(calls.at(0)).runs_ns), 2005 * 1.01 * kUs, 1.0 * kUs);
}

TEST(ScalarReads, SingleReadsAreNoRun) {
  Calls calls;
  calls.reads(20, 0, 2000);
  const ScalarReads found = scalar_reads(calls.at(0));
  EXPECT_EQ(found.reads, 20u);
  EXPECT_EQ(found.reads_in_runs, 0u);
  EXPECT_EQ(found.runs_ns, 0);
}

TEST(ScalarReads, WorkBetweenThemIsNotTheirs) {
  Calls calls;
  for (std::int64_t i = 0; i < 20; ++i) {
    calls.call("aten::addmm", i * 500, 400);
    calls.reads(1, i * 500 + 420, 1);
  }
  EXPECT_LT(scalar_reads(calls.at(0)).runs_ns, 20 * 105 * kUs);
}

TEST(ScalarReads, AnAgentThatActsIsNoRun) {
  Calls calls;
  for (std::int64_t i = 0; i < 50; ++i) {
    for (std::int64_t j = 0; j < 12; ++j) calls.call("aten::linear", i * 200 + j * 10, 8);
    calls.reads(1, i * 200 + 150, 1);
  }
  const ScalarReads found = scalar_reads(calls.at(0));
  EXPECT_EQ(found.reads, 50u);
  EXPECT_EQ(found.reads_in_runs, 0u);
}

TEST(ScalarReads, OptimizersReadTheirOwnCounters) {
  Calls calls;
  calls.call("Optimizer.step#Adam.step", 0, 5000, OperatorKind::kUser);
  calls.reads(100, 10, 20);
  calls.reads(3, 6000, 20);
  EXPECT_EQ(scalar_reads(calls.at(0)).reads, 3u);
}

TEST(TinyOperators, OuterOnesAndTheGapsBeforeThem) {
  Calls calls;
  calls.call("aten::linear", 0, 100);
  calls.call("aten::addmm", 10, 80);
  for (std::int64_t i = 0; i < 100; ++i) calls.call("aten::add", 200 + 10 * i, 4);
  const TinyOperators tiny = tiny_operators(calls.at(0));
  EXPECT_EQ(tiny.operators, 101u);
  EXPECT_EQ(tiny.tiny, 100u);
  EXPECT_NEAR(tiny.mean_tiny_ns, 4000, 1e-6);
  EXPECT_NEAR(static_cast<double>(tiny.tiny_ns), (100 * 4 + 99 * 6 - 30) * 1000.0, 1e3);
}

TEST(DeviceCalls, IdleAfterAReadAndBusy) {
  Calls calls;
  calls.call("kernel", 0, 100, OperatorKind::kKernel, 1);
  calls.call("kernel", 50, 100, OperatorKind::kKernel, 1);
  calls.call("aten::_local_scalar_dense", 100, 60);
  calls.call("kernel", 250, 100, OperatorKind::kKernel, 1);
  calls.call("kernel", 400, 100, OperatorKind::kKernel, 1);
  const DeviceCalls device = device_calls(calls.at(0));
  EXPECT_TRUE(device.has_device);
  EXPECT_EQ(device.kernels, 4u);
  EXPECT_EQ(device.busy_ns, 350 * kUs);
  EXPECT_EQ(device.idle_after_reads_ns, 100 * kUs);
}

// A hundred steps of 0.1 s, of which the steps 5 to 14 were recorded with these calls.
Verdict judged(Calls& calls, const char* spec, double seconds = 0.1) {
  PhasedRun run;
  for (std::int64_t step = 0; step < 100; ++step) {
    run.step({{"forward", seconds / 2}, {"rest", seconds / 2}});
    if (step >= 5 && step < 15) run.run().operators(calls.at(step));
  }
  return judge(run.run(), spec).rbegin()->second;
}

TEST(HiddenSynchronisation, ALoopOverSingleNumbers) {
  Calls calls;
  calls.reads(2000, 0, 20);
  const Verdict verdict = judged(calls, "HiddenSynchronisation");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(evidence_value(verdict, "reads_per_step"), 2000);
  EXPECT_NEAR(evidence_value(verdict, "read_share"), 0.4, 0.02);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1 / 0.6, 0.05);
  EXPECT_EQ(evidence_value(verdict, "recorded_steps"), 10);
}

// Those that were recorded are twice as long as the others, in the reads and around them.
TEST(HiddenSynchronisation, AllStepsTellHowLongTheProgramsOwnTimeIs) {
  Calls calls;
  calls.reads(2000, 0, 20);
  PhasedRun run;
  for (std::int64_t step = 0; step < 200; ++step) {
    const bool is_recorded = step >= 5 && step < 15;
    run.step({{"rest", is_recorded ? 0.08 : 0.04}, {"backward", 0.01}});
    if (is_recorded) run.run().operators(calls.at(step));
  }
  const Verdict verdict = judge(run.run(), "HiddenSynchronisation").rbegin()->second;
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "read_share"), 0.5 * 0.8, 0.015);  // of the rest, which is 4.2 of 5.2
}

TEST(HiddenSynchronisation, AReadNowAndThenIsHealthy) {
  Calls calls;
  calls.reads(10, 0, 20);
  EXPECT_EQ(judged(calls, "HiddenSynchronisation").outcome, Outcome::kOk);
  Calls cheap;
  cheap.reads(100, 0, 20);
  EXPECT_EQ(judged(cheap, "HiddenSynchronisation").outcome, Outcome::kOk);
}

TEST(HiddenSynchronisation, ADeviceThatIsIdleMeanwhile) {
  Calls calls;
  for (std::int64_t i = 0; i < 50; ++i) {
    calls.call("kernel", i * 2000, 500, OperatorKind::kKernel, 1);
    calls.call("aten::_local_scalar_dense", i * 2000 + 100, 420);
  }
  const Verdict verdict = judged(calls, "HiddenSynchronisation");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "read_share"), 0.735, 0.01);
}

TEST(HiddenSynchronisation, WithoutRecordedOperators) {
  PhasedRun run;
  run.steps(100, {{"forward", 0.1}});
  EXPECT_EQ(judge(run.run(), "HiddenSynchronisation").rbegin()->second.outcome, Outcome::kNotApplicable);
  EXPECT_EQ(judge(run.run(), "HiddenSynchronisation").at(10).outcome, Outcome::kInsufficientData);
}

// A table and three other parameters, each with three calls in the optimizer; `table_us` each of the table's.
Calls updates(std::int64_t table_us, const char* gradient) {
  Calls calls;
  calls.call(gradient, 0, 10'000);
  calls.call("Optimizer.step#Adam.step", 20'000, 50'000, OperatorKind::kUser);
  for (std::int64_t parameter = 0; parameter < 4; ++parameter) {
    const std::int64_t start = 20'000 + parameter * 12'000;
    const std::int64_t takes = parameter == 2 ? table_us : 100;
    calls.call("aten::mul_", start, takes);
    calls.call("aten::mul_", start + 4000, takes);
    calls.call("aten::addcdiv_", start + 8000, takes);
    calls.call("aten::copy_", start + 8000, takes / 2);  // called by it
  }
  return calls;
}

TEST(TableUpdates, TheParameterThatTakesLongestIsTheTable) {
  const TableUpdates found = table_updates(updates(3000, "aten::embedding_dense_backward").at(0));
  EXPECT_EQ(found.tables, 1u);
  EXPECT_EQ(found.gradient_ns, 10'000 * kUs);
  EXPECT_EQ(found.update_ns, 9000 * kUs);
  EXPECT_EQ(found.all_updates_ns, 9900 * kUs);
  EXPECT_NEAR(found.share(), 9.0 / 9.9, 1e-9);
}

TEST(TableUpdates, WithoutATableNothingIsSaidOfOne) {
  const TableUpdates found = table_updates(updates(3000, "aten::mm").at(0));
  EXPECT_EQ(found.tables, 0u);
  EXPECT_EQ(found.share(), 0);
}

TEST(TableUpdates, OneCallForAllParametersShowsNoTable) {
  Calls calls;
  calls.call("aten::embedding_dense_backward", 0, 10'000);
  calls.call("Optimizer.step#Adam.step", 20'000, 50'000, OperatorKind::kUser);
  calls.call("aten::_fused_adam_", 20'000, 40'000);
  EXPECT_EQ(table_updates(calls.at(0)).share(), 0);
}

TEST(OptimizerHeavy, TablesOfWhichAFewRowsAreUsed) {
  const auto of = [](Calls calls) {
    PhasedRun run;
    for (std::int64_t step = 0; step < 100; ++step) {
      run.step({{"forward", 0.05}, {"optimizer", 0.05}});
      if (step >= 5 && step < 15) run.run().operators(calls.at(step));
    }
    return judge(run.run(), "OptimizerHeavy").rbegin()->second;
  };
  const Verdict verdict = of(updates(3000, "aten::embedding_dense_backward"));
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "table_share"), 9.0 / 9.9, 1e-6);
  EXPECT_NEAR(evidence_value(verdict, "table_gradient_share"), 0.1, 1e-3);
  EXPECT_NEAR(evidence_value(verdict, "gain"), 1 / (1 - 0.95 * (0.5 * 9.0 / 9.9 + 0.1)), 0.01);
  EXPECT_EQ(evidence_value(verdict, "gain_min"), 1);
  EXPECT_NE(verdict.advice.find("sparse=True"), std::string::npos);
  const Verdict others = of(updates(100, "aten::embedding_dense_backward"));
  EXPECT_NEAR(evidence_value(others, "gain"), 1 / 0.75, 0.01) << "the table takes a quarter of the optimizer's time";
}

TEST(SmallKernels, ThousandsOfTinyOperators) {
  Calls calls;
  for (std::int64_t i = 0; i < 5000; ++i) calls.call("aten::add", i * 15, 5);
  const Verdict verdict = judged(calls, "SmallKernels");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(evidence_value(verdict, "tiny_operators"), 5000);
  EXPECT_NEAR(evidence_value(verdict, "tiny_share"), 0.735, 0.02);
  Calls few;
  for (std::int64_t i = 0; i < 1500; ++i) few.call("aten::add", i * 50, 5);
  EXPECT_EQ(judged(few, "SmallKernels").outcome, Outcome::kOk);
}

TEST(SmallKernels, KernelsThatAreShorterThanTheirLaunch) {
  Calls calls;
  for (std::int64_t i = 0; i < 500; ++i) calls.call("kernel", i * 200, 5, OperatorKind::kKernel, 1);
  const Verdict verdict = judged(calls, "SmallKernels");
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_NEAR(evidence_value(verdict, "device_busy"), 0.025, 0.005);
  Calls busy;
  for (std::int64_t i = 0; i < 500; ++i) busy.call("kernel", i * 200, 150, OperatorKind::kKernel, 1);
  EXPECT_EQ(judged(busy, "SmallKernels").outcome, Outcome::kOk);
}

TEST(SmallKernels, WithoutRecordedOperators) {
  PhasedRun run;
  run.steps(100, {{"forward", 0.1}});
  EXPECT_EQ(judge(run.run(), "SmallKernels").rbegin()->second.outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
