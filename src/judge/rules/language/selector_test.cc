#include "judge/rules/language/selector.h"

#include <gtest/gtest.h>

#include "core/base/regex.h"

namespace trainwarden::rules::language {
namespace {

Selector parsed(std::string_view text) {
  auto selector = Selector::parse(text);
  if (!selector.ok()) ADD_FAILURE() << text << ": " << selector.status().message();
  return selector.ok() ? *selector : *Selector::parse("x");
}

// By the pattern that stands for it in a TensorSelection.
bool selects(std::string_view selector, std::string_view name) {
  const TensorSelection selection = parsed(selector).selection();
  return Regex::compile(selection.patterns.at(0))->found_in(name);
}

TEST(Selector, APatternIsForTheWholeName) {
  EXPECT_TRUE(selects("gradient/*", "gradient/conv1.weight"));
  EXPECT_TRUE(selects("gradient/*", "gradient/"));
  EXPECT_FALSE(selects("gradient/*", "my_gradient/conv1.weight"));
  EXPECT_FALSE(selects("*.weight", "conv1.weights"));
  EXPECT_TRUE(selects("conv?.weight", "conv1.weight"));
  EXPECT_FALSE(selects("conv?.weight", "conv12.weight"));
  EXPECT_TRUE(selects("a.b[0]+$^", "a.b[0]+$^"));
  EXPECT_FALSE(selects("a.b", "axb"));
  EXPECT_TRUE(selects("*", "line\nbreak"));
  EXPECT_FALSE(selects("loss", "loss\n"));
}

TEST(Selector, ANameInQuotesIsTakenAsItIs) {
  EXPECT_TRUE(selects(R"("a * (b), \"c\" \\")", R"(a * (b), "c" \)"));
  EXPECT_FALSE(selects(R"("a*")", "ab"));
  EXPECT_TRUE(parsed("\"loss\"").one_name());
  EXPECT_TRUE(parsed("loss").one_name());
  EXPECT_FALSE(parsed("loss*").one_name());
  EXPECT_FALSE(parsed("@losses").one_name());
}

TEST(Selector, BetweenSlashesIsAPatternFoundAnywhere) {
  EXPECT_TRUE(selects(R"(/conv\d+\.weight$/)", "gradient/conv12.weight"));
  EXPECT_TRUE(selects(R"(/gradient\/c/)", "gradient/conv"));
}

TEST(Selector, ACollectionAndWhatOfIt) {
  EXPECT_EQ(parsed("@weights").selection().collections, std::vector<std::string>{"weights"});
  EXPECT_TRUE(parsed("@weights").match("anything"));
  const Selector some = parsed("@weights:conv*.weight?");
  EXPECT_TRUE(some.match("conv.1.weight.weightx"));
  EXPECT_FALSE(some.match("conv.1.weight"));
  EXPECT_FALSE(some.match("xconv.1.weight1"));
  EXPECT_TRUE(parsed("@weights:a*b*c").match("abbbcbc"));
  EXPECT_FALSE(parsed("@weights:a*b*c").match("abbbcb"));
}

TEST(Selector, VariablesTakeTextThatIsNotEmpty) {
  const Selector selector = parsed("gradient/{layer}.{what}");
  EXPECT_EQ(selector.variables(), (std::vector<std::string>{"layer", "what"}));
  EXPECT_EQ(selector.match("gradient/a.b.c"), (std::vector<std::string>{"a", "b.c"}));  // the first takes the least
  EXPECT_FALSE(selector.match("gradient/.b"));
  EXPECT_FALSE(selector.match("gradient/a."));
  EXPECT_EQ(parsed("{p}.weight").match("a.weight.weight"), (std::vector<std::string>{"a.weight"}));
  EXPECT_TRUE(selects("gradient/{p}", "gradient/x"));
  EXPECT_FALSE(selects("gradient/{p}", "gradient/"));
}

TEST(Selector, Faults) {
  for (const char* text : {"\"\"", "//", "/(/", "@", "@a-b", "@weights:", "{", "{}", "{p q}", "{p}{q}", "{p}.{p}",
                           "{p}/*", "?{p}", "{a}.{b}.{c}.{d}"}) {
    EXPECT_EQ(Selector::parse(text).status().code(), Code::kInvalidArgument) << text;
  }
}

TEST(Selector, WhereItEnds) {
  EXPECT_EQ(Selector::end_of("gradient/* )"), 10U);
  EXPECT_EQ(Selector::end_of("loss, 3"), 4U);
  EXPECT_EQ(Selector::end_of(R"("a\" b" rest)"), 7U);
  EXPECT_EQ(Selector::end_of(R"(/a\/b/)"), 6U);
  EXPECT_FALSE(Selector::end_of("\"open"));
  EXPECT_EQ(Selector::end_of(""), 0U);
}

TEST(Selector, NeedsStatisticsOfWhatItSelects) {
  const Collection collection = parsed("@weights:conv*").need(SavePolicy::every(10));
  EXPECT_EQ(collection.name, "weights");
  EXPECT_TRUE(collection.include.empty());
  EXPECT_EQ(collection.save, SavePolicy::every(10));
  EXPECT_EQ(collection.keep, KeepForm::reduced());
  const Collection pattern = parsed("gradient/*").need(SavePolicy::every(1));
  EXPECT_EQ(pattern.name, "rule:gradient/*");
  EXPECT_EQ(pattern.include.size(), 1U);
}

}  // namespace
}  // namespace trainwarden::rules::language
