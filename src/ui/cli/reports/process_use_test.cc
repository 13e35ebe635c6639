#include "ui/cli/reports/process_use.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace trainwarden::cli {
namespace {

TEST(ProcessUseTest, ReadsTheFieldsThatCount) {
  const auto stat = parse_process_stat(
      "71 (a) b (c) R 1 71 71 0 -1 4194560 100 0 0 0 150 25 0 0 20 0 3 0 12345 10000000 2048 18446744073709551615 1 1");
  ASSERT_TRUE(stat.has_value());
  EXPECT_EQ(stat->cpu_ticks, 175u);
  EXPECT_EQ(stat->threads, 3);
  EXPECT_EQ(stat->resident_pages, 2048u);
}

TEST(ProcessUseTest, RefusesAnotherForm) {
  for (const char* text : {"", "71 (a", "71 (a) R 1 2 3", "71 (a) R x x x x x x x x x x x x x x x x x x x x x x x x"}) {
    EXPECT_FALSE(parse_process_stat(text).has_value()) << text;
  }
}

TEST(ProcessUseTest, TellsOfThisProcess) {
  ProcessMeter meter;
  const auto first = meter.look(getpid(), 1'000'000'000);
  ASSERT_TRUE(first.has_value());
  EXPECT_LT(first->cpu_share, 0) << "there is nothing to compare with yet";
  EXPECT_GT(first->memory_bytes, 1u << 16);
  EXPECT_GE(first->threads, 1);
  const auto second = meter.look(getpid(), 2'000'000'000);
  ASSERT_TRUE(second.has_value());
  EXPECT_GE(second->cpu_share, 0);
  EXPECT_LT(second->cpu_share, 1000);
}

TEST(ProcessUseTest, TellsNothingOfAProcessThatIsGone) {
  EXPECT_FALSE(ProcessMeter().look(0x7fffffff, 1).has_value());
}

}  // namespace
}  // namespace trainwarden::cli
