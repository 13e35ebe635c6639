#include "work/log_metrics/definition.h"

#include <gtest/gtest.h>

namespace trainwarden::log_metrics {
namespace {

DefinitionSet parsed(std::string_view text) {
  Result<DefinitionSet> set = parse_definitions(text, "metrics");
  EXPECT_TRUE(set.ok()) << set.status().to_string();
  return set.value_or({});
}

std::string mistakes_in(std::string_view text) {
  const Result<DefinitionSet> set = parse_definitions(text, "metrics");
  EXPECT_EQ(set.status().code(), Code::kInvalidArgument);
  return set.status().message();
}

TEST(Definition, TomlTables) {
  const DefinitionSet set = parsed(R"x(
strict_metrics = true
[[metric]]
name = "train:loss"
regex = 'loss: ([0-9.]+)'
[[metric]]
name = "accuracy"
regex = 'acc: (\S+)'
match = "last"
percent = true
thousands = true
)x");
  ASSERT_EQ(set.definitions.size(), 2u);
  EXPECT_TRUE(set.strict);
  EXPECT_EQ(set.definitions[0].name, "train:loss");
  EXPECT_EQ(set.definitions[0].regex, "loss: ([0-9.]+)");
  EXPECT_EQ(set.definitions[0].match, MatchChoice::kFirst);
  EXPECT_EQ(set.definitions[0].place, "metrics, line 3");
  EXPECT_FALSE(set.definitions[0].percent);
  EXPECT_EQ(set.definitions[1].match, MatchChoice::kLast);
  EXPECT_TRUE(set.definitions[1].percent);
  EXPECT_TRUE(set.definitions[1].thousands);
}

TEST(Definition, TheListThatSageMakerTakes) {
  const DefinitionSet set = parsed(R"x([
    {"Name": "train:loss", "Regex": "loss: ([0-9\\.]+)"},
    {"Name": "eval:loss", "Regex": "val_loss: ([0-9\\.]+)"}
  ])x");
  ASSERT_EQ(set.definitions.size(), 2u);
  EXPECT_FALSE(set.strict);
  EXPECT_EQ(set.definitions[0].regex, "loss: ([0-9\\.]+)");
  EXPECT_EQ(set.definitions[1].name, "eval:loss");
  EXPECT_EQ(set.definitions[1].place, "metrics, [2]");
}

TEST(Definition, AnObjectWithThatList) {
  const DefinitionSet set =
      parsed(R"x({"MetricDefinitions": [{"name": "a", "regex": "a=(.)", "Match": "all"}], "StrictMetrics": true})x");
  ASSERT_EQ(set.definitions.size(), 1u);
  EXPECT_TRUE(set.strict);
  EXPECT_EQ(set.definitions[0].match, MatchChoice::kAll);
}

TEST(Definition, AllMistakesAreToldAtOnceWithTheirPlaces) {
  EXPECT_EQ(mistakes_in(R"x(
strikt = true
[[metric]]
nam = "a"
regex = "("
[[metric]]
name = "b"
regex = 7
match = "second"
[[metric]]
name = "b"
regex = "b=(.)"
percent = "yes"
)x"),
            "metrics, line 2: unknown key \"strikt\" (known: strict_metrics, metric)\n"
            "metrics, line 3: name: expected the metric's name, as in name = \"train:loss\"\n"
            "metrics, line 3: regex: pattern \"(\" does not compile: missing closing parenthesis at 1\n"
            "metrics, line 4: unknown key \"nam\"; did you mean \"name\"?\n"
            "metrics, line 6: regex: expected a pattern, as in regex = 'loss: (\\S+)'\n"
            "metrics, line 8: regex: expected a text, found an integer\n"
            "metrics, line 9: match: expected one of first, last, all, found \"second\"\n"
            "metrics, line 10: name: \"b\" is defined already (metrics, line 6); one pattern can match several ways: "
            "regex = 'first: (\\S+)|second: (\\S+)'\n"
            "metrics, line 13: percent: expected true or false, found a text");
}

TEST(Definition, Limits) {
  const auto json_of = [](const std::string& name, const std::string& regex) {
    return "[{\"Name\": \"" + name + "\", \"Regex\": \"" + regex + "\"}]";
  };
  parsed(json_of(std::string(kMaxNameBytes, 'n'), std::string(kMaxRegexBytes, 'r')));
  EXPECT_EQ(mistakes_in(json_of(std::string(kMaxNameBytes + 1, 'n'), "a")),
            "metrics, [1]: name: expected 255 bytes at most, found 256");
  EXPECT_EQ(mistakes_in(json_of("a", std::string(kMaxRegexBytes + 1, 'r'))),
            "metrics, [1]: regex: expected 500 bytes at most, found 501");
  EXPECT_EQ(mistakes_in(json_of("a\\u001b[2J", "a")),
            "metrics, [1]: name: expected no control characters, found \"a\\x1B[2J\"");
  std::string groups;
  for (std::size_t i = 0; i <= kMaxGroups; ++i) groups += "(a)";
  EXPECT_EQ(mistakes_in(json_of("a", groups)),
            "metrics, [1]: regex: expected 30 groups at most, found 31; (?:...) groups without capturing");
  std::string many;
  for (std::size_t i = 0; i <= kMaxDefinitions; ++i) {
    many += "[[metric]]\nname = \"m" + std::to_string(i) + "\"\nregex = \"a\"\n";
  }
  EXPECT_EQ(mistakes_in(many), "metrics, line 1: expected 40 definitions at most, found 41");
}

TEST(Definition, WhatIsNoDefinitionFileSaysWhatIsExpected) {
  const std::string none =
      ": expected a TOML file with [[metric]] tables, or JSON with a list of {\"Name\", \"Regex\"}";
  EXPECT_EQ(mistakes_in(""), "metrics" + none + ", found no definition");
  EXPECT_EQ(mistakes_in("[]"), "metrics" + none + ", found no definition");
  EXPECT_EQ(mistakes_in("[metric]\nname = \"a\""),
            "metrics, line 1: expected a list of definitions; in TOML, [[metric]] with two brackets on each side");
  EXPECT_EQ(mistakes_in("[{\"Name\": \"a\", \"Regex\": \"a\"}, 7]"),
            "metrics, [2]: expected a definition, {\"Name\": ..., \"Regex\": ...}, found an integer");
  EXPECT_NE(mistakes_in("{\"MetricDefinitions\": ").find("metrics"), std::string::npos);
  EXPECT_NE(mistakes_in("= what").find("metrics, line 1"), std::string::npos);
}

TEST(Definition, OneOfACommandLine) {
  const Result<MetricDefinition> definition = parse_definition("train:loss = loss=([0-9.]+)");
  ASSERT_TRUE(definition.ok()) << definition.status().to_string();
  EXPECT_EQ(definition->name, "train:loss");
  EXPECT_EQ(definition->regex, " loss=([0-9.]+)");
  EXPECT_EQ(parse_definition("loss").status().message(),
            "expected NAME=REGEX, as in 'train:loss=loss: (\\S+)', found \"loss\"");
  EXPECT_EQ(parse_definition("loss=(").status().message(),
            "\"loss=(\": regex: pattern \"(\" does not compile: missing closing parenthesis at 1");
}

}  // namespace
}  // namespace trainwarden::log_metrics
