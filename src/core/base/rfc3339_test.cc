#include "core/base/rfc3339.h"

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

TEST(Rfc3339, WritesTimesInUtc) {
  EXPECT_EQ(format_rfc3339(0), "1970-01-01T00:00:00.000000000Z");
  EXPECT_EQ(format_rfc3339(1'795'144'388'123'456'789), "2026-11-20T03:13:08.123456789Z");
  EXPECT_EQ(format_rfc3339(1'795'144'388'999'999'999, 3), "2026-11-20T03:13:08.999Z");
  EXPECT_EQ(format_rfc3339(1'795'144'388'999'999'999, 0), "2026-11-20T03:13:08Z");
  EXPECT_EQ(format_rfc3339(-1), "1969-12-31T23:59:59.999999999Z");
}

TEST(Rfc3339, ReadsWhatItWrites) {
  for (const std::int64_t ns : {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1'795'144'388'123'456'789},
                                std::int64_t{951'782'400'000'000'000}}) {
    EXPECT_EQ(parse_rfc3339(format_rfc3339(ns)), ns);
  }
}

TEST(Rfc3339, ReadsOtherOffsetsAndDigits) {
  const std::int64_t ns = 1'795'144'388'500'000'000;
  EXPECT_EQ(parse_rfc3339("2026-11-20T04:13:08.5+01:00"), ns);
  EXPECT_EQ(parse_rfc3339("2026-11-19t22:13:08.500-05:00"), ns);
  EXPECT_EQ(parse_rfc3339("2026-11-20 03:13:08.5000000009z"), ns);
  EXPECT_EQ(parse_rfc3339("2026-11-20T03:13:08Z"), ns - 500'000'000);
}

TEST(Rfc3339, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026-11-20", "2026-11-20T03:13:08", "2026-11-20T03:13:08.Z", "2026-02-30T00:00:00Z",
        "2026-11-20T24:00:00Z", "2026-11-20T03:60:00Z", "2026-11-20T03:13:08Zx", "2026-11-20T03:13:08+1:00",
        "9999-01-01T00:00:00Z", "26-11-20T03:13:08Z", "2026-1\xff-20T"}) {
    EXPECT_EQ(parse_rfc3339(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace trainwarden
