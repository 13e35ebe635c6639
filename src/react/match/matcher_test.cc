#include "react/match/matcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>

namespace trainwarden::match {
namespace {

using Numbers = std::vector<std::uint32_t>;

Pattern pattern(const std::string& json) {
  auto parsed = Pattern::parse(json);
  EXPECT_TRUE(parsed.ok()) << json << ": " << parsed.status().to_string();
  return *std::move(parsed);
}

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Matcher, NumbersArePatternsInTheOrderTheyWereAddedIn) {
  MatcherBuilder builder;
  EXPECT_EQ(builder.add(pattern(R"({"a": ["x"]})")), 0u);
  EXPECT_EQ(builder.add(pattern(R"({"b": ["y"]})")), 1u);
  EXPECT_EQ(builder.add(pattern(R"({"a": ["x"]})")), 2u);
  EXPECT_EQ(builder.add(pattern(R"({"a": [{"prefix": "x"}]})")), 3u);
  const Matcher matcher = builder.build();
  EXPECT_EQ(*matcher.match(R"({"a": "x"})"), (Numbers{0, 2, 3}));
  EXPECT_EQ(*matcher.match(R"({"b": "y", "a": "xy"})"), (Numbers{1, 3}));
  EXPECT_EQ(*matcher.match("{}"), Numbers());
}

TEST(Matcher, WithoutPatternsItReadsTheEventAllTheSame) {
  const Matcher matcher = MatcherBuilder().build();
  EXPECT_EQ(*matcher.match(R"({"a": [1, {"b": 2}]})"), Numbers());
  EXPECT_FALSE(matcher.match(R"({"a": [1, {"b": 2})").ok());
}

TEST(Matcher, ABuilderMayBuildTwice) {
  MatcherBuilder builder;
  builder.add(pattern(R"({"a": [1]})"));
  const Matcher first = builder.build();
  builder.add(pattern(R"({"a": [2]})"));
  const Matcher second = builder.build();
  EXPECT_EQ(*first.match(R"({"a": [1, 2]})"), Numbers{0});
  EXPECT_EQ(*second.match(R"({"a": [1, 2]})"), (Numbers{0, 1}));
}

// What is wrong is found whether or not a pattern names the field that it is in.
TEST(Matcher, EventsThatAreNoJsonObjectAreRefusedWithTheirPlace) {
  MatcherBuilder builder;
  builder.add(pattern(R"({"a": {"b": ["x"]}})"));
  const Matcher matcher = builder.build();
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "line 1, column 1: expected an object, found the end"},
      {"[]", "line 1, column 1: expected an object"},
      {"\"x\"", "expected an object"},
      {"{\"a\": {\"b\": \"x\"}} {}", "line 1, column 19: expected nothing after the end of the JSON value, found `{}`"},
      {"{\"a\": {\"b\": x}}", "line 1, column 13: expected a value, found `x}}`"},
      {"{\"c\": {\"b\": x}}", "line 1, column 13: expected a value, found `x}}`"},
      {"{\"c\":\n  [1,\n   2,]}", "line 3, column 6: expected another item after the comma"},
      {"{\"a\": {\"b\" \"x\"}}", "expected a colon"},
      {"{\"a\": {\"b\": \"x\"]}", "expected a comma or \"}\""},
      {"{\"c\": [\"x\"}}", "expected a comma or \"]\""},
      {"{\"c\": {1: 2}}", "expected a field's name in quotes"},
      {"{\"c\": \"\xff\"}", "expected well-formed UTF-8"},
      {"{\"c\": \"\xed\xa0\x80\"}", "expected well-formed UTF-8"},
      {"{\"c\": \"\xc0\xaf\"}", "expected well-formed UTF-8"},
      {"{\"c\": \"\xf4\x90\x80\x80\"}", "expected well-formed UTF-8"},
      {"{\"c\": \"12345678\x01\"}", "no control character"},
      {"{\"c\": \"\\ud83d\"}", "expected a low surrogate"},
      {"{\"c\": \"\\q\"}", "expected an escape"},
      {"{\"c\": \"open", "expected the closing quote"},
      {"{\"c\": -}", "expected a value"},
      {"{\"c\": .5}", "expected a value"},
      {"{\"c\": 1e+}", "expected a digit in the exponent"},
      {"{\"c\": 00}", "expected no digit after a leading 0"},
      {"{\"c\": Infinity}", "expected a value"},
      {"{\"c\": nul}", "expected a value"},
      {"\xef\xbb\xbf{}", "expected an object"},
      {std::string("{\"c\": 1}\0", 9), "expected nothing after the end"},
  };
  for (const auto& [event, reason] : cases) {
    const auto match = matcher.match(event);
    ASSERT_FALSE(match.ok()) << event;
    EXPECT_EQ(match.status().code(), Code::kInvalidArgument);
    EXPECT_NE(match.status().message().find(reason), std::string::npos) << event << ": " << match.status().message();
    EXPECT_EQ(*matcher.match(R"({"a": {"b": "x"}})"), Numbers{0}) << "after " << event;
  }
}

// A prefix of an event is none, wherever it ends; and what was collected until then is forgotten.
TEST(Matcher, EveryCutOfAnEventIsRefused) {
  const std::string event = R"({"a": [{"b": "x\n\u00e4", "c": -1.5e3}, {"b": [true, null]}], "d": {"e": "ä"}})";
  MatcherBuilder builder;
  builder.add(pattern(R"({"a": {"b": [true], "c": [{"exists": false}]}, "d": {"e": ["ä"]}})"));
  const Matcher matcher = builder.build();
  for (std::size_t size = 0; size < event.size(); ++size) {
    EXPECT_FALSE(matcher.match(event.substr(0, size)).ok()) << size;
    ASSERT_EQ(*matcher.match(event), Numbers{0});
  }
}

TEST(Matcher, DepthIsBoundedForNamedAndOtherFields) {
  MatcherBuilder builder;
  builder.add(pattern(R"({"a": [1]})"));
  const Matcher matcher = builder.build();
  for (const std::string name : {"a", "b"}) {
    const auto nested = [&](int depth) {
      return "{\"" + name + "\": " + repeated("[", depth) + "1" + repeated("]", depth) + "}";
    };
    const auto deep = matcher.match(nested(511));
    ASSERT_TRUE(deep.ok()) << deep.status().to_string();
    EXPECT_EQ(deep->size(), name == "a" ? 1u : 0u);
    const auto deeper = matcher.match(nested(512));
    ASSERT_FALSE(deeper.ok());
    EXPECT_NE(deeper.status().message().find("no more than 512"), std::string::npos);
    EXPECT_FALSE(matcher.match("{\"" + name + "\": " + repeated("[", 1'000'000)).ok());
    EXPECT_FALSE(matcher.match(repeated("{\"" + name + "\":", 1'000'000)).ok());
  }
}

// Stars upon stars, and a text that they all nearly match: the pass stays in proportion to the text.
TEST(Matcher, WildcardsThatNearlyMatchALongText) {
  MatcherBuilder builder;
  for (int i = 0; i < 50; ++i) builder.add(pattern(fmt::format(R"({{"a": [{{"wildcard": "*a*a*a*a*a*a*b{}"}}]}})", i)));
  const Matcher matcher = builder.build();
  EXPECT_EQ(*matcher.match("{\"a\": \"" + std::string(200'000, 'a') + "b17\"}"), Numbers{17});
}

TEST(Matcher, ManyElementsOfNestedArrays) {
  std::string inner;
  for (int i = 0; i < 300; ++i) inner += fmt::format("{}{{\"y\": {}}}", i == 0 ? "" : ",", i);
  std::string outer;
  for (int i = 0; i < 300; ++i) outer += fmt::format("{}{{\"x\": {}, \"b\": [{}]}}", i == 0 ? "" : ",", i, inner);
  MatcherBuilder builder;
  builder.add(pattern(R"({"a": {"x": [299], "b": {"y": [299]}, "c": [{"exists": false}]}})"));
  builder.add(pattern(R"({"a": {"x": [300], "b": {"y": [299]}}})"));
  EXPECT_EQ(*builder.build().match("{\"a\": [" + outer + "]}"), Numbers{0});
}

TEST(Matcher, ThreadsShareOne) {
  MatcherBuilder builder;
  for (int i = 0; i < 100; ++i) builder.add(pattern(fmt::format(R"({{"a": [{}], "b": {{"c": ["x"]}}}})", i)));
  const Matcher matcher = builder.build();
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 500; ++i) {
        const auto number = static_cast<std::uint32_t>((i + 7 * thread) % 100);
        const auto match = matcher.match(fmt::format(R"({{"b": [{{"c": "x"}}], "a": {}}})", number));
        if (!match.ok() || *match != Numbers{number}) ++wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Matches, OnePatternAndOneEvent) {
  EXPECT_TRUE(*matches(pattern(R"({"a": [1]})"), R"({"a": 1})"));
  EXPECT_FALSE(*matches(pattern(R"({"a": [1]})"), R"({"a": 2})"));
  EXPECT_EQ(matches(pattern(R"({"a": [1]})"), "1").status().code(), Code::kInvalidArgument);
}

TEST(Pattern, KeepsItsText) {
  const std::string text = "  {\"a\":\n [1] }\n";
  EXPECT_EQ(pattern(text).text(), text);
}

TEST(Pattern, ErrorsTellLineAndColumn) {
  const auto parsed = Pattern::parse("{\n  \"detail\": {\n    \"state\": [\"x\", {\"prefix\": 5}]\n  }\n}");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(
      parsed.status().message(),
      "detail.state[1].prefix (line 3, column 31): expected a string or {\"equals-ignore-case\": string}, found 5");
}

TEST(Pattern, ErrorsShowNoControlCharacters) {
  const auto parsed = Pattern::parse("{\"a\\u001b[31m\": 5}");
  ASSERT_FALSE(parsed.ok());
  EXPECT_EQ(parsed.status().message().find('\x1b'), std::string::npos);
}

TEST(Pattern, IsBounded) {
  const auto refused = [](const std::string& text, const std::string& reason) {
    const auto parsed = Pattern::parse(text);
    ASSERT_FALSE(parsed.ok());
    EXPECT_EQ(parsed.status().code(), Code::kInvalidArgument);
    EXPECT_NE(parsed.status().message().find(reason), std::string::npos) << parsed.status().message();
  };
  refused("{\"a\": [\"" + std::string(70'000, 'x') + "\"]}", "expected a pattern of at most 64.0 KiB, found 68.4 KiB");
  refused(repeated("{\"a\":", 66) + "[1]" + repeated("}", 66), "expected at most 64 fields within each other");
  EXPECT_TRUE(Pattern::parse(repeated("{\"a\":", 65) + "[1]" + repeated("}", 65)).ok());
  refused("{\"a\": [" + repeated("[", 5000), "expected a string, a number");
  refused(repeated("{\"$or\":[{\"a\":[1]},", 400), "no more than 512 objects and arrays");

  // Ten times two, then ten times two: 1,024 combinations.
  const auto choices = [](int count) {
    std::string text = "{";
    for (int i = 0; i < count; ++i) {
      text += fmt::format("{}\"f{}\": {{\"$or\": [{{\"x\": [1]}}, {{\"y\": [1]}}]}}", i == 0 ? "" : ",", i);
    }
    return text + "}";
  };
  EXPECT_TRUE(Pattern::parse(choices(9)).ok());
  refused(choices(10), "expected \"$or\" to come to at most 1000 combinations");
}

TEST(Pattern, AChoiceOfManyCombinationsMatches) {
  std::string text = "{";
  std::string event = "{";
  for (int i = 0; i < 9; ++i) {
    text += fmt::format("{}\"f{}\": {{\"$or\": [{{\"x\": [1]}}, {{\"y\": [1]}}]}}", i == 0 ? "" : ",", i);
    event += fmt::format("{}\"f{}\": [{{\"z\": 0}}, {{\"{}\": 1}}]", i == 0 ? "" : ",", i, i % 2 == 0 ? "x" : "y");
  }
  EXPECT_TRUE(*matches(pattern(text + "}"), event + "}"));
}

}  // namespace
}  // namespace trainwarden::match
