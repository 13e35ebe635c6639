#include "hook/capture/step_times.h"

#include <vector>

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "hook/capture/capture_testing.h"
#include "hook/capture/idle_steps.h"

namespace trainwarden::capture {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::vector<float> newest(StepTimes& times) {
  const auto seconds = times.newest();
  return {seconds.begin(), seconds.end()};
}

TEST(StepTimes, AreThoseBetweenTheEndsOfTrainSteps) {
  StepTimes times;
  times.switch_on();
  times.end_step(Mode::kTrain, 10 * kSecond);  // when it began is not known
  times.end_step(Mode::kTrain, 12 * kSecond);
  times.end_step(Mode::kTrain, 15 * kSecond);
  EXPECT_EQ(newest(times), (std::vector<float>{2, 3}));
}

TEST(StepTimes, OfAnEvaluationBelongToTheTrainStepAfterIt) {
  StepTimes times;
  times.switch_on();
  times.end_step(Mode::kTrain, 1 * kSecond);
  times.end_step(Mode::kEval, 4 * kSecond);
  times.end_step(Mode::kPredict, 5 * kSecond);
  times.end_step(Mode::kTrain, 6 * kSecond);
  EXPECT_EQ(newest(times), std::vector<float>{5});
}

// The steps of one call end all at once, when it has returned.
TEST(StepTimes, OfStepsThatOneCallComputesAreTheCallsDivided) {
  StepTimes times;
  times.switch_on();
  times.end_step(Mode::kTrain, 1 * kSecond);
  times.share(4);
  for (int i = 0; i < 4; ++i) times.end_step(Mode::kTrain, 9 * kSecond + i);
  times.end_step(Mode::kTrain, 10 * kSecond + 3);
  EXPECT_EQ(newest(times), (std::vector<float>{2, 2, 2, 2, 1}));
}

TEST(StepTimes, OfAFirstCallAreNotKnown) {
  StepTimes times;
  times.switch_on();
  times.share(3);
  for (int i = 0; i < 3; ++i) times.end_step(Mode::kTrain, 9 * kSecond + i);
  times.share(0);
  times.end_step(Mode::kTrain, 10 * kSecond + 2);
  EXPECT_EQ(newest(times), std::vector<float>{1});
}

TEST(StepTimes, AreGivenOnce) {
  StepTimes times;
  times.switch_on();
  for (int i = 1; i <= 4; ++i) times.end_step(Mode::kGlobal, i * kSecond);
  EXPECT_EQ(newest(times), (std::vector<float>{1, 1, 1}));
  EXPECT_EQ(newest(times).size(), 3);  // they have not been forgotten yet
  times.forget();
  EXPECT_TRUE(newest(times).empty());
  times.end_step(Mode::kGlobal, 11 * kSecond);
  EXPECT_EQ(newest(times), std::vector<float>{7});
}

TEST(StepTimes, OfMoreStepsThanAreRememberedAreTheNewest) {
  StepTimes times;
  times.switch_on();
  std::int64_t now_ns = kSecond;
  times.end_step(Mode::kTrain, now_ns);
  const int steps = 2 * static_cast<int>(StepTimes::kRemembered) + 100;
  for (int i = 1; i <= steps; ++i) times.end_step(Mode::kTrain, now_ns += i * kSecond);
  const auto seconds = times.newest();
  ASSERT_EQ(seconds.size(), StepTimes::kRemembered);
  EXPECT_EQ(seconds.back(), static_cast<float>(steps));
  EXPECT_EQ(seconds.front(), static_cast<float>(steps) - StepTimes::kRemembered + 1);
}

// What a step took that ended without a word is known at the next one that is saved.
TEST(StepTimes, OfIdleStepsAreSavedWithTheNextOneThatIsWanted) {
  const auto storage = storage::create_memory_storage();
  HookOptions options;
  options.include_collections = {"signals"};
  options.save = SavePolicy::every(5);
  const auto hook = open_hook_on(*storage, options);
  hook->set_mode(Mode::kTrain);
  for (int step = 0; step < 11; ++step) {
    if (hook->wants_anything()) hook->save_step_times();
    if (!end_idle_step(*hook)) hook->end_step();
  }
  ASSERT_TRUE(hook->close().ok());

  const ReadRun run = read_run(*storage);
  std::map<std::int64_t, std::size_t> known;
  for (const ReadStep& step : run.steps) {
    const auto times = step.values.find("trainwarden/step_times");
    if (times == step.values.end()) continue;
    known[step.entry.mode_step] = floats_of(times->second).size();
    for (const float seconds : floats_of(times->second)) EXPECT_GT(seconds, 0);
  }
  EXPECT_EQ(known, (std::map<std::int64_t, std::size_t>{{5, 4}, {10, 5}}));  // of 1 to 4, then of 5 to 9
  EXPECT_EQ(run.collections_of.at("trainwarden/step_times"), (std::vector<std::string>{"all", "signals"}));
}

}  // namespace
}  // namespace trainwarden::capture
