#include "core/exchange/interruption.h"

#include <gtest/gtest.h>

#include <atomic>

namespace trainwarden::exchange {
namespace {

using std::chrono::milliseconds;

std::atomic<int> asked = 0;

class InterruptionTest : public testing::Test {
 protected:
  void SetUp() override { asked = 0; }
  void TearDown() override { set_interruption(nullptr); }
};

TEST_F(InterruptionTest, WithoutAnybodyToAskNothingIsInterrupted) {
  EXPECT_FALSE(has_interruption());
  EXPECT_FALSE(is_interrupted());
  EXPECT_TRUE(pause_between_exchanges(milliseconds(1), {}));
}

TEST_F(InterruptionTest, APauseOfAnHourEndsWhenItIs) {
  set_interruption([] { return ++asked == 3; });
  EXPECT_FALSE(pause_between_exchanges(milliseconds(3'600'000), {}));
  EXPECT_EQ(asked, 3);
}

TEST_F(InterruptionTest, APauseEndsByItsTokenToo) {
  set_interruption([] { return false; });
  std::stop_source stop;
  stop.request_stop();
  EXPECT_FALSE(pause_between_exchanges(milliseconds(3'600'000), stop.get_token()));
}

}  // namespace
}  // namespace trainwarden::exchange
