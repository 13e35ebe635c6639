#include "core/base/spec_text.h"

#include <gtest/gtest.h>

namespace trainwarden {
namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;
using Words = std::vector<std::string>;

TEST(SplitSpec, NameAlone) {
  const auto spec = split_spec(" VanishingGradient ", "rule");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->name, "VanishingGradient");
  EXPECT_TRUE(spec->parameters.empty());
}

TEST(SplitSpec, Parameters) {
  const auto spec = split_spec("A: b = 1 ,c=x=y,d=", "rule");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->parameters, (Pairs{{"b", "1"}, {"c", "x=y"}, {"d", ""}}));
}

TEST(SplitSpec, CommasInValues) {
  EXPECT_EQ(split_spec(R"(A:b="x,y",c=1)", "rule")->parameters, (Pairs{{"b", "x,y"}, {"c", "1"}}));
  EXPECT_EQ(split_spec(R"(A:b=x\,y,c=1)", "rule")->parameters, (Pairs{{"b", "x,y"}, {"c", "1"}}));
}

TEST(SplitSpec, QuotesInValues) {
  EXPECT_EQ(split_spec(R"(A:b="say \"x\"")", "rule")->parameters, (Pairs{{"b", R"(say "x")"}}));
  EXPECT_EQ(split_spec(R"(A:b=\"x)", "rule")->parameters, (Pairs{{"b", R"("x)"}}));
}

TEST(SplitSpec, OtherBackslashesStandForThemselves) {
  EXPECT_EQ(split_spec(R"(A:b=\d+\.weight$)", "rule")->parameters, (Pairs{{"b", R"(\d+\.weight$)"}}));
  EXPECT_EQ(split_spec(R"(A:b="a{1\,2},c")", "rule")->parameters, (Pairs{{"b", R"(a{1\,2},c)"}}));
}

TEST(SplitSpec, Faults) {
  for (const char* text : {"", " ", ":a=1", "A:", "A:b", "A:b=1,c", "A:=1", "A:b=\"x", "A:b=1,"}) {
    const Status status = split_spec(text, "rule").status();
    EXPECT_EQ(status.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(status.message().find("NAME:param=value"), std::string::npos) << status.message();
  }
}

TEST(SplitValueList, TrimsAndDropsEmptyParts) {
  EXPECT_EQ(split_value_list(" a, b ,,c "), (Words{"a", "b", "c"}));
  EXPECT_TRUE(split_value_list("").empty());
  EXPECT_EQ(split_value_list(R"(a{1\,2},\d)"), (Words{"a{1,2}", R"(\d)"}));
}

}  // namespace
}  // namespace trainwarden
