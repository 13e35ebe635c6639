// Memory that grows, and what must stay quiet beside it.
#include <gtest/gtest.h>

#include <algorithm>

#include "judge/diagnosis/diagnosis_testing.h"

namespace trainwarden::diagnosis {
namespace {

TEST(Machine, MemoryThatGrowsBetweenLooks) {
  const auto confidence = [](auto bytes_at) {
    Values steps, bytes;
    for (int step = 20; step < 200; step += 4) steps.push_back(step), bytes.push_back(bytes_at(step));
    return confidence_with({{"memory_steps", steps}, {"memories", bytes}}, "memory_leak");
  };
  EXPECT_GT(confidence([](int step) { return 3e8 + 1e6 * step; }), 0.8);
  EXPECT_EQ(confidence([](int step) { return 3e8 + 1e5 * step; }), 0);                // 18 MB
  EXPECT_EQ(confidence([](int step) { return 3e8 + 1e6 * std::min(step, 90); }), 0);  // it has come to its end
  EXPECT_EQ(confidence([](int step) { return step < 100 ? 3e8 : 6e8; }), 0);          // something was loaded
}

TEST(Machine, MemoryThatEachEvaluationKeeps) {
  const auto confidence = [](int evaluations, double each) {
    TrainingHistory history;
    for (int step = 0; step < 200; step += 5) {
      TrainingUnderTest training;
      training.steps = 1;
      const int past = std::min(evaluations, step / 20);
      training.numbers = {{"step", {1.0 * step}}, {"memory", {3e8 + each * past + (step % 10) * 1e4}}};
      if (step % 20 == 19 || step % 20 == 0)
        training.numbers.insert(training.numbers.end(), {{"eval_after", {step - 1.0}}, {"eval_calls", {4}}});
      training.add_to(history);
    }
    return confidence_of(diagnose(history), "memory_leak");
  };
  EXPECT_GT(confidence(10, 25e6), 0.8);
  EXPECT_EQ(confidence(10, 1e6), 0);
  EXPECT_EQ(confidence(2, 50e6), 0);  // the first ones alone
}

}  // namespace
}  // namespace trainwarden::diagnosis
