// A run that has a limit of bytes keeps less and less, and ends well.
#include <gtest/gtest.h>

#include "core/base/log.h"
#include "hook/capture/capture_testing.h"
#include "store/storage/memory_storage.h"

namespace trainwarden::capture {
namespace {

class HookSpace : public testing::Test {
 protected:
  HookSpace() {
    set_log_sink([](LogLevel, std::string_view) {});
  }
  ~HookSpace() override { set_log_sink(nullptr); }

  static constexpr std::int64_t kSteps = 400;
  // Each step has 16 KiB of values and a loss.
  HookReport train(std::uint64_t max_run_bytes) {
    HookOptions options = keep_all_of("x");
    options.max_run_bytes = max_run_bytes;
    const auto hook = open_hook_on(*storage_, options);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const std::vector<float> values(4096, static_cast<float>(step));
      hook->save_tensor("x", view_of(values));
      hook->save_scalar("loss", static_cast<double>(step));
      hook->end_step();
      if (step % 16 == 0) {
        EXPECT_TRUE(hook->flush().ok());
      }
    }
    EXPECT_TRUE(hook->close().ok());
    return hook->report();
  }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(HookSpace, WholeTensorsBecomeStatisticsAndTheRunKeepsToItsLimit) {
  constexpr std::uint64_t kLimit = 4 << 20;
  const HookReport report = train(kLimit);
  EXPECT_LE(journal::journal_bytes(*storage_), kLimit);
  const ReadRun run = read_run(*storage_);
  ASSERT_EQ(run.steps.size(), static_cast<std::size_t>(kSteps));
  std::uint64_t whole = 0;
  for (const ReadStep& step : run.steps) {
    EXPECT_EQ(step.scalars.at("loss"), static_cast<double>(step.entry.global_step));
    const bool is_whole = step.values.contains("x");
    whole += is_whole ? 1 : 0;
    EXPECT_NE(is_whole, step.statistics.contains("x"));
    if (!is_whole) {
      EXPECT_EQ(step.statistics.at("x").statistics.max, static_cast<double>(step.entry.global_step));
    }
  }
  EXPECT_GT(whole, 100U);
  EXPECT_LT(whole, 250U);
  EXPECT_EQ(run.lost("run_bytes"), static_cast<std::uint64_t>(kSteps) - whole);
  EXPECT_EQ(lost(report, LossCause::kRunBytes), static_cast<std::uint64_t>(kSteps) - whole);
  EXPECT_NE(run.events.back().find("run_end"), std::string::npos);
}

TEST_F(HookSpace, InTheEndOnlyWordsAreWritten) {
  constexpr std::uint64_t kLimit = 96 << 10;
  const HookReport report = train(kLimit);
  EXPECT_LE(journal::journal_bytes(*storage_), kLimit + (64 << 10)) << "what is said in words may come on top";
  const ReadRun run = read_run(*storage_);
  EXPECT_GT(lost(report, LossCause::kRunBytes), static_cast<std::uint64_t>(kSteps));
  EXPECT_EQ(run.lost("run_bytes"), lost(report, LossCause::kRunBytes)) << "the run itself says what it lacks";
  EXPECT_NE(run.events.back().find("run_end"), std::string::npos);
}

TEST_F(HookSpace, WithoutALimitAllIsKept) {
  const HookReport report = train(0);
  EXPECT_TRUE(report.losses.empty());
  EXPECT_EQ(read_run(*storage_).steps.back().values.count("x"), 1U);
}

}  // namespace
}  // namespace trainwarden::capture
