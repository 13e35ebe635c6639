#include "judge/rules/builtin/training/signal_testing.h"

namespace trainwarden::rules {
namespace {

constexpr double kBackward = 0.001;

struct Times {
  double step = 0.1;
  double data = 0.01;
  double forward = 0.02;
  double optimizer = 0.01;
};

std::vector<TestTensor> reported(const Times& times) {
  const auto phase = [](const char* name, double seconds) {
    return scalar(name, static_cast<float>(seconds), {"scalars"});
  };
  const double own = times.data + times.forward + times.optimizer;
  const double waited = times.step - own - kBackward;
  return {signal(signals::kStepSeconds, times.step), phase("phase/step", times.step),
          phase("phase/data_wait", times.data),      phase("phase/forward", times.forward),
          phase("phase/optimizer", times.optimizer), phase("phase/backward", kBackward),
          phase("phase/gradient_sync", waited)};
}

// `count` steps in which the workers take these times.
TestRun run_of(const std::vector<Times>& workers, std::int64_t count = 60) {
  TestRun run(static_cast<int>(workers.size()));
  for (std::int64_t step = 0; step < count; ++step) {
    for (std::size_t worker = 0; worker < workers.size(); ++worker) {
      run.add({.step = step,
               .tensors = reported(workers[worker]),
               .mode = Mode::kTrain,
               .worker = static_cast<int>(worker)});
    }
  }
  return run;
}

TEST(Straggler, TheWorkerWithTheMostTimeOfItsOwn) {
  const auto verdicts = judge(run_of({{}, {.data = 0.05}, {}}), "Straggler");
  EXPECT_EQ(verdicts.at(48).outcome, Outcome::kInsufficientData);
  const Verdict& verdict = verdicts.at(49);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(0).quantity, "step_share");
  EXPECT_NEAR(verdict.evidence.at(1).value, 1 / 0.6, 1e-5);
  EXPECT_EQ(verdict.evidence.at(4).worker, "rank-00001");
  EXPECT_EQ(verdict.evidence.at(4).quantity, "late_share");
  EXPECT_NEAR(verdict.evidence.at(4).value, 0.4, 1e-5);
  EXPECT_NEAR(verdict.evidence.at(5).value, 0.04, 1e-6);
  EXPECT_NE(verdict.message.find("the phase \"data_wait\""), std::string::npos) << verdict.message;
}

TEST(Straggler, TheThresholdOfTheShare) {
  EXPECT_EQ(judge(run_of({{}, {.data = 0.0299}}), "Straggler").at(59).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run_of({{}, {.data = 0.0301}}), "Straggler").at(59).outcome, Outcome::kFired);
}

TEST(Straggler, TheLeastWait) {
  const Times quick{.step = 0.01, .data = 0.001, .forward = 0.002, .optimizer = 0.001};
  Times late = quick;
  late.data = 0.0055;
  EXPECT_EQ(judge(run_of({quick, late}), "Straggler").at(59).outcome, Outcome::kOk);
  EXPECT_EQ(judge(run_of({quick, late}), "Straggler:min_seconds=0.004").at(59).outcome, Outcome::kFired);
}

TEST(Straggler, WithoutWaitingForEachOtherTheStepsAreCompared) {
  // The slow one has the larger share of its time in the backward pass: by its own time it would look like the fast
  // one.
  const Verdict verdict = judge(run_of({{.data = 0.03}, {.step = 0.2, .data = 0.001}}), "Straggler").at(59);
  ASSERT_EQ(verdict.outcome, Outcome::kFired);
  EXPECT_EQ(verdict.evidence.at(4).worker, "rank-00001");
  EXPECT_NEAR(verdict.evidence.at(4).value, 0.5, 1e-5);
}

TEST(Straggler, WorkersThatAreGoneAreNotAwaited) {
  TestRun run(3);
  for (std::int64_t step = 0; step < 60; ++step) {
    for (const int worker : {0, 1, 2}) {
      if (step >= 5 && worker == 2) continue;
      run.add({.step = step, .tensors = reported({.data = worker == 1 ? 0.05 : 0.01}), .worker = worker});
    }
  }
  run.kill(2);
  EXPECT_EQ(judge(run, "Straggler").at(59).outcome, Outcome::kFired);
}

TEST(Straggler, ChangingWorkersAreNoise) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 60; ++step) {
    for (const int worker : {0, 1}) {
      const bool late = (step % 3 == 0) == (worker == 0);  // worker 1 in two steps of three
      run.add({.step = step, .tensors = reported({.data = late ? 0.06 : 0.01}), .worker = worker});
    }
  }
  EXPECT_TRUE(steps_with(judge(run, "Straggler"), Outcome::kFired).empty());
}

TEST(Straggler, DifferentModelsAreNotCompared) {
  TestRun run(2);
  for (std::int64_t step = 0; step < 60; ++step) {
    for (const int worker : {0, 1}) {
      auto tensors = reported({.data = worker == 0 ? 0.01 : 0.06});
      if (step == 0) tensors.push_back(text_signal(signals::kModel, worker == 0 ? "{}" : R"({"foreign": 1})"));
      run.add({.step = step, .tensors = tensors, .worker = worker});
    }
  }
  EXPECT_EQ(judge(run, "Straggler").at(59).outcome, Outcome::kNotApplicable);
}

TEST(Straggler, NotApplicable) {
  EXPECT_EQ(judge(run_of({{}}), "Straggler").at(59).outcome, Outcome::kNotApplicable);
  TestRun silent(2);
  silent.add_steps(0, 0, 0);
  silent.add_steps(0, 0, 1);
  EXPECT_EQ(judge(silent, "Straggler").at(0).outcome, Outcome::kNotApplicable);
  TestRun half(2);
  half.add({.step = 0, .tensors = reported({}), .worker = 0});
  half.add({.step = 0, .worker = 1});
  EXPECT_EQ(judge(half, "Straggler").at(0).outcome, Outcome::kNotApplicable);
}

}  // namespace
}  // namespace trainwarden::rules
