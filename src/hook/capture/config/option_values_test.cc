#include "hook/capture/config/option_values.h"

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

TEST(OptionValues, Shares) {
  EXPECT_EQ(parse_share("0.01").value_or(-1), 0.01);
  EXPECT_EQ(parse_share(" 1% ").value_or(-1), 0.01);
  EXPECT_EQ(parse_share("0.5 %").value_or(-1), 0.005);
  EXPECT_EQ(parse_share("0").value_or(-1), 0);
  EXPECT_EQ(parse_share("100%").value_or(-1), 1);
  for (const char* text : {"", "%", "5", "101%", "-1%", "nan", "1 permille"})
    EXPECT_FALSE(parse_share(text).ok()) << text;
  EXPECT_EQ(parse_share("5").status().message(), "expected a share from 0 to 1 such as 0.01 or \"1%\", found \"5\"");
}

TEST(OptionValues, Words) {
  EXPECT_EQ(parse_include_workers("one").value_or(IncludeWorkers::kAll), IncludeWorkers::kOne);
  EXPECT_EQ(parse_include_workers("all").value_or(IncludeWorkers::kOne), IncludeWorkers::kAll);

  EXPECT_EQ(parse_when_full("drop").value_or(WhenFull::kBlock), WhenFull::kDrop);
  EXPECT_EQ(parse_when_full("statistics").value_or(WhenFull::kBlock), WhenFull::kStatistics);
  EXPECT_EQ(parse_when_full(" BLOCK ").value_or(WhenFull::kDrop), WhenFull::kBlock);
  EXPECT_EQ(parse_durability("none").value_or(Durability::kStep), Durability::kNone);
  EXPECT_EQ(parse_durability("interval").value_or(Durability::kStep), Durability::kInterval);
  EXPECT_EQ(parse_durability("step").value_or(Durability::kNone), Durability::kStep);
}

TEST(OptionValues, FormsToKeep) {
  EXPECT_EQ(parse_keep("values").value_or(KeepForm::reduced()), KeepForm::whole());
  EXPECT_EQ(parse_keep("statistics").value_or(KeepForm::whole()), KeepForm::reduced());
  EXPECT_EQ(parse_keep(" Hash, shape ").value_or(KeepForm::whole()),
            (KeepForm{.values = false, .hash = true, .shape = true}));
  EXPECT_FALSE(parse_keep("").ok());
  EXPECT_FALSE(parse_keep(",").ok());
  EXPECT_FALSE(parse_keep("values, weights").ok());
}

TEST(OptionValues, UnknownWordsNameTheNearest) {
  EXPECT_EQ(parse_when_full("blok").status().message(),
            "expected one of \"drop\", \"statistics\", \"block\", found \"blok\"; did you mean \"block\"?");
}

}  // namespace
}  // namespace trainwarden::capture
