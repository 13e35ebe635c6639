#include "capture/option_values.h"

#include <gtest/gtest.h>

namespace trainwarden::capture {
namespace {

TEST(OptionValues, ByteSizesWithUnits) {
  EXPECT_EQ(parse_byte_size("4096").value_or(0), 4096u);
  EXPECT_EQ(parse_byte_size(" 64 B ").value_or(0), 64u);
  EXPECT_EQ(parse_byte_size("64KiB").value_or(0), 65536u);
  EXPECT_EQ(parse_byte_size("256 mib").value_or(0), 268435456u);
  EXPECT_EQ(parse_byte_size("2GiB").value_or(0), 2147483648u);
  EXPECT_EQ(parse_byte_size("1TiB").value_or(0), 1099511627776u);
  EXPECT_EQ(parse_byte_size("1kB").value_or(0), 1000u);
  EXPECT_EQ(parse_byte_size("3MB").value_or(0), 3000000u);
}

TEST(OptionValues, ByteSizesThatAreNone) {
  for (const char* text : {"", "MiB", "12 parsecs", "-1", "1.5GiB", "99999999999999999999", "9223372036854775807TiB"}) {
    const auto size = parse_byte_size(text);
    EXPECT_EQ(size.status().code(), Code::kInvalidArgument) << text;
  }
  EXPECT_NE(parse_byte_size("12 parsecs").status().message().find("found \"12 parsecs\""), std::string::npos);
}

TEST(OptionValues, Words) {
  EXPECT_EQ(parse_when_full("drop").value_or(WhenFull::kBlock), WhenFull::kDrop);
  EXPECT_EQ(parse_when_full("statistics").value_or(WhenFull::kBlock), WhenFull::kStatistics);
  EXPECT_EQ(parse_when_full(" BLOCK ").value_or(WhenFull::kDrop), WhenFull::kBlock);
  EXPECT_EQ(parse_durability("none").value_or(Durability::kStep), Durability::kNone);
  EXPECT_EQ(parse_durability("interval").value_or(Durability::kStep), Durability::kInterval);
  EXPECT_EQ(parse_durability("step").value_or(Durability::kNone), Durability::kStep);
}

TEST(OptionValues, UnknownWordsNameTheNearest) {
  EXPECT_EQ(parse_when_full("blok").status().message(),
            "expected one of \"drop\", \"statistics\", \"block\", found \"blok\"; did you mean \"block\"?");
}

}  // namespace
}  // namespace trainwarden::capture
