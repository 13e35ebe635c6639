#include "data/format/parse_json.h"

#include <gtest/gtest.h>

namespace trainwarden::format {
namespace {

TEST(ParseJson, ReadsAnyValue) {
  EXPECT_EQ(parse_json(" [1, {\"a\": null}] ", "test").value_or({}), Json({1, {{"a", nullptr}}}));
  EXPECT_EQ(parse_json("3", "test").value_or({}), 3);
  EXPECT_EQ(parse_ordered_json("{\"b\":1,\"a\":2}", "test")->dump(), "{\"b\":1,\"a\":2}");
}

TEST(ParseJson, RefusesWhatIsNone) {
  for (const char* text : {"", "{", "[1,]", "nul", "[] x", "\"\xFF\"", "1e999"}) {
    EXPECT_EQ(parse_json(text, "test").status().code(), Code::kDataLoss) << text;
  }
}

TEST(ParseJson, SaysWhereAndWhatIsWrong) {
  const auto wrong = [](std::string_view text) { return parse_json(text, "e.json").status().message(); };
  EXPECT_EQ(wrong("{"),
            "e.json: not well-formed JSON: line 1, column 2: unexpected end of input; expected string literal");
  EXPECT_EQ(wrong("{\"a\": 1,\n  \"b\" 2}"),
            "e.json: not well-formed JSON: line 2, column 7: unexpected number literal; expected ':'");
  EXPECT_EQ(wrong("[1,\n\n nul]").find("e.json: not well-formed JSON: line 3, column 2: invalid literal, found \"nul"),
            0U)
      << wrong("[1,\n\n nul]");
  EXPECT_EQ(wrong("1e999").find("e.json: not well-formed JSON: line 1, column 1: number overflow"), 0U)
      << wrong("1e999");
  const std::string hostile = wrong("[\"\x1b[2J" + std::string(100'000, 'x') + "\"]");
  EXPECT_LT(hostile.size(), 400U);
  EXPECT_EQ(hostile.find('\x1b'), std::string::npos);
  EXPECT_LT(wrong("\"" + std::string(100'000, 'x')).size(), 400U);
  EXPECT_LT(wrong(std::string(100'000, '9') + ".").size(), 400U);
}

TEST(ParseJson, LooksAtTheDepthBeforeItMakesATree) {
  const std::string deepest = std::string(32, '[') + std::string(32, ']');
  EXPECT_TRUE(parse_json(deepest, "test").ok());
  EXPECT_EQ(parse_json("[" + deepest + "]", "test").status().code(), Code::kDataLoss);
  EXPECT_EQ(parse_json(std::string(16 << 20, '['), "test").status().code(), Code::kDataLoss);
  EXPECT_TRUE(parse_json("\"" + std::string(100, '[') + "\\\"[\"", "test").ok()) << "in a string";
  EXPECT_TRUE(parse_json("\"\\\\\"", "test").ok()) << "a string that ends behind a backslash";
  EXPECT_FALSE(parse_json("[\"\\\\\"," + deepest + "]", "test").ok()) << "behind a string that ends so";
  EXPECT_FALSE(parse_json("\xEF\xBB\xBF[" + deepest + "]", "test").ok()) << "behind a byte order mark";
  EXPECT_TRUE(parse_json(deepest, "test", {.depth = 32}).ok());
  EXPECT_FALSE(parse_json(deepest, "test", {.depth = 31}).ok());
}

TEST(ParseJson, LooksForNoEndOfWhatDoesNotBeginAsJson) {
  const std::string long_text = "x" + std::string(1 << 20, '[');
  EXPECT_TRUE(check_json_limits(long_text, "test").ok()) << "of a text that is no JSON nothing is said";
  EXPECT_EQ(parse_json(long_text, "test").status().code(), Code::kDataLoss);
}

TEST(ParseJson, CountsTheValuesBeforeItMakesATree) {
  EXPECT_TRUE(parse_json("[1,2,3]", "test", {.values = 3}).ok());
  const Status refused = parse_json("[1,2,3]", "test", {.values = 2}).status();
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_NE(refused.message().find("TRAINWARDEN_READ_BUDGET"), std::string::npos) << refused.message();
  EXPECT_FALSE(parse_json("{\"a\":1,\"b\":2}", "test", {.values = 3}).ok());
  std::string many = "[";
  for (int i = 0; i < 3'000'000; ++i) many += "0,";
  EXPECT_EQ(parse_json(many + "0]", "test").status().code(), Code::kResourceExhausted);
}

}  // namespace
}  // namespace trainwarden::format
