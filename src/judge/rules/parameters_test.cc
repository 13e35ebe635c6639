#include "judge/rules/parameters.h"

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

TEST(ParameterReader, ReadsTextsAsWhatTheyMean) {
  const RuleParameters parameters = {{"number", "1e-7"},   {"whole", "10"},  {"yes", "True"}, {"list", "a, b"},
                                     {"regex", R"(\d+$)"}, {"mode", "EVAL"}, {"no_mode", ""}};
  ParameterReader read(parameters);
  EXPECT_EQ(read.number("number", 0), 1e-7);
  EXPECT_EQ(read.integer("whole", 1, 100), 10);
  EXPECT_TRUE(read.boolean("yes"));
  EXPECT_EQ(read.list("list"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read.patterns("regex"), (std::vector<std::string>{R"(\d+$)"}));
  EXPECT_EQ(read.mode("mode"), Mode::kEval);
  EXPECT_EQ(read.mode("no_mode"), std::nullopt);
  EXPECT_TRUE(read.status().ok());
}

TEST(ParameterReader, ANumberMayBeLeftOut) {
  const RuleParameters parameters = {{"given", "2"}, {"nothing", ""}, {"none", "None"}, {"bad", "x"}};
  ParameterReader read(parameters);
  EXPECT_EQ(read.optional_number("given", 0), 2);
  EXPECT_EQ(read.optional_number("nothing", 0), std::nullopt);
  EXPECT_EQ(read.optional_number("none", 0), std::nullopt);
  EXPECT_TRUE(read.status().ok());
  read.optional_number("bad", 0);
  EXPECT_EQ(read.status().message(), "parameter bad: expected a number of at least 0, found \"x\"");
}

TEST(ParameterReader, AChoiceIsOneOfItsWords) {
  const RuleParameters parameters = {{"good", "channel"}, {"bad", "row"}};
  ParameterReader read(parameters);
  EXPECT_EQ(read.choice("good", {"auto", "channel"}), 1u);
  EXPECT_TRUE(read.status().ok());
  read.choice("bad", {"auto", "channel"});
  EXPECT_EQ(read.status().message(), "parameter bad: expected one of auto, channel, found \"row\"");
}

TEST(ParameterReader, CollectionsAreAtLeastOne) {
  const RuleParameters parameters = {{"good", "losses, gradients"}, {"none", ""}};
  ParameterReader read(parameters);
  EXPECT_EQ(read.collections("good"), (std::vector<std::string>{"losses", "gradients"}));
  EXPECT_TRUE(read.status().ok());
  read.collections("none");
  EXPECT_EQ(read.status().message(), "parameter none: expected at least one collection, found none");
}

TEST(ParameterReader, KeepsTheFirstFault) {
  const RuleParameters parameters = {{"a", "one"}, {"b", "two"}};
  ParameterReader read(parameters);
  read.number("a", 0);
  read.integer("b", 0, 1);
  EXPECT_EQ(read.status().message(), "parameter a: expected a number of at least 0, found \"one\"");
}

}  // namespace
}  // namespace trainwarden::rules
