#include "ui/cli/terminal/time_text.h"

#include <cstdlib>
#include <ctime>

#include <gtest/gtest.h>

namespace trainwarden::cli {
namespace {

TEST(LocalTimeText, IsInTheMachinesTimeZoneWithSeconds) {
  ::setenv("TZ", "Etc/GMT-2", 1);  // two hours ahead of UTC
  ::tzset();
  EXPECT_EQ(local_time_text(1'700'000'000'999'999'999), "2023-11-15 00:13:20");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(LocalTimeText, NoTimeIsNoText) {
  EXPECT_EQ(local_time_text(0), "");
}

}  // namespace
}  // namespace trainwarden::cli
