// Many threads save into one hook while the training is driven and looked at.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "hook/capture/capture_testing.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

// Four floats that name who saved them.
std::vector<float> signature(int thread, int round) {
  return {static_cast<float>(thread), static_cast<float>(round), 1.0f, 2.0f};
}

TEST(HookThreads, StepsHoldExactlyWhatTheirThreadsSaved) {
  constexpr int kThreads = 4;
  constexpr int kSteps = 30;
  const auto storage = storage::create_memory_storage();
  const auto hook = open_hook_on(*storage, keep_all_of("^t"));
  for (int step = 0; step < kSteps; ++step) {
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < kThreads; ++t) {
        threads.emplace_back([&, t] {
          const std::string name = "t" + std::to_string(t);
          const std::vector<float> values = signature(t, step);
          hook->save_tensor(name, view_of(values));
          hook->save_tensor("unwanted" + name, view_of(values));
          hook->save_scalar("s" + name, t);
        });
      }
    }
    hook->end_step();
  }
  ASSERT_TRUE(hook->close().ok());
  EXPECT_TRUE(hook->report().losses.empty());
  const ReadRun run = read_run(*storage);
  ASSERT_EQ(run.steps.size(), std::size_t{kSteps});
  for (int step = 0; step < kSteps; ++step) {
    const ReadStep& read = run.steps[static_cast<std::size_t>(step)];
    ASSERT_EQ(read.values.size(), std::size_t{kThreads});
    ASSERT_EQ(read.scalars.size(), std::size_t{kThreads});
    for (int t = 0; t < kThreads; ++t) {
      EXPECT_EQ(floats_of(read.values.at("t" + std::to_string(t))), signature(t, step));
    }
  }
}

// Threads that save while another ends steps: each tensor lands whole in one step or another, and none is lost, since
// the savers wait for a writer that is slower than they are.
TEST(HookThreads, SavingWhileStepsEnd) {
  constexpr int kThreads = 3;
  constexpr int kSaves = 300;
  const auto storage = storage::create_memory_storage();
  HookOptions options = keep_all_of("^t");
  options.when_full = WhenFull::kBlock;
  const auto hook = open_hook_on(*storage, options);
  std::atomic<int> running = kThreads;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (int i = 0; i < kSaves; ++i) {
          const std::string name = "t" + std::to_string(t) + "/" + std::to_string(i);
          const std::vector<float> values = signature(t, i);
          const std::string_view mine[] = {"mine"};
          const TensorId id = hook->declare(name, mine);
          if (hook->wants(id)) hook->save_tensor(id, view_of(values));
          static_cast<void>(hook->wants_collection("mine"));
        }
        --running;
      });
    }
    while (running > 0) {
      hook->set_mode(hook->mode() == Mode::kTrain ? Mode::kEval : Mode::kTrain);
      hook->end_step();
      static_cast<void>(hook->report());
    }
  }
  ASSERT_TRUE(hook->close().ok());
  EXPECT_TRUE(hook->report().losses.empty());
  std::size_t found = 0;
  for (const ReadStep& step : read_run(*storage).steps) {
    for (const auto& [name, value] : step.values) {
      const int t = name[1] - '0';
      EXPECT_EQ(floats_of(value), signature(t, std::stoi(name.substr(3)))) << name;
      ++found;
    }
  }
  EXPECT_EQ(found, std::size_t{kThreads * kSaves});
}

}  // namespace
}  // namespace trainwarden::capture
