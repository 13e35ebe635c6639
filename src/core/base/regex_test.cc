#include "core/base/regex.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "core/base/log.h"

namespace trainwarden {
namespace {

bool found(std::string_view expression, std::string_view text) {
  const Result<Regex> pattern = Regex::compile(expression);
  EXPECT_TRUE(pattern.ok()) << pattern.status().to_string();
  return pattern.ok() && pattern->found_in(text);
}

std::string compile_error(std::string_view expression) {
  const Result<Regex> pattern = Regex::compile(expression);
  EXPECT_EQ(pattern.status().code(), Code::kInvalidArgument);
  return pattern.status().message();
}

TEST(Pattern, IsSearchedNotAnchored) {
  EXPECT_TRUE(found("weight", "conv0.weight_v"));
  EXPECT_FALSE(found("^weight", "conv0.weight"));
  EXPECT_TRUE(found("weight$", "conv0.weight"));
  EXPECT_TRUE(found("", "anything"));
  EXPECT_TRUE(found("", ""));
  EXPECT_FALSE(found("a", ""));
}

TEST(Pattern, LookAheadAndLookBehind) {
  EXPECT_TRUE(found("^(?!gradient/).*weight", "conv0.weight"));
  EXPECT_FALSE(found("^(?!gradient/).*weight", "gradient/conv0.weight"));
  EXPECT_TRUE(found("(?<=gradient/)conv", "gradient/conv0.weight"));
  EXPECT_FALSE(found("(?<!gradient/)conv", "gradient/conv0.weight"));
  EXPECT_TRUE(found("conv(?=0)", "conv0"));
}

TEST(Pattern, ReadsUnicodeAndSurvivesBrokenText) {
  EXPECT_TRUE(found("^é.$", "éa"));
  EXPECT_TRUE(found("^\\w+$", "größe"));
  EXPECT_TRUE(found("weight", "\xff\xfe.weight"));
  EXPECT_FALSE(found("bias", "\xff\xfe.weight"));
}

TEST(Pattern, BadPatternSaysWhatAndWhere) {
  EXPECT_EQ(compile_error("a("), "pattern \"a(\" does not compile: missing closing parenthesis at 2");
  EXPECT_EQ(compile_error("*x"), "pattern \"*x\" does not compile: quantifier does not follow a repeatable item at 0");
  EXPECT_NE(compile_error("[z-a]").find("range out of order"), std::string::npos);
}

TEST(Pattern, EndlessBacktrackingIsGivenUpAndLogged) {
  std::vector<std::string> lines;
  set_log_sink([&](LogLevel, std::string_view line) { lines.emplace_back(line); });
  EXPECT_FALSE(found("(x+x+)+[yz]", std::string(60, 'x')));
  EXPECT_FALSE(found("^(?:a|aa|(?=a)a)+$", std::string(60, 'a') + "b"));
  set_log_sink({});
  EXPECT_EQ(lines.size(), 2u);
  for (const std::string& line : lines) EXPECT_NE(line.find("was given up"), std::string::npos) << line;
}

TEST(Pattern, CopiesOutliveTheOriginal) {
  Result<Regex> original = Regex::compile("^conv");
  ASSERT_TRUE(original.ok());
  const Regex copy = *original;
  original = Status(Code::kUnknown, "gone");
  EXPECT_EQ(copy.expression(), "^conv");
  EXPECT_TRUE(copy.found_in("conv0"));
}

TEST(Pattern, ManyThreadsShareOne) {
  const Result<Regex> pattern = Regex::compile("^(?!gradient/).*\\.weight$");
  ASSERT_TRUE(pattern.ok());
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&] {
        for (int i = 0; i < 2000; ++i) {
          wrong += pattern->found_in("conv" + std::to_string(i) + ".weight") ? 0 : 1;
          wrong += pattern->found_in("gradient/conv0.weight") ? 1 : 0;
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
}

std::string text_of(std::string_view text, const std::optional<Regex::Span>& span) {
  return span ? std::string(span->in(text)) : "(none)";
}

TEST(Pattern, SearchGivesAllGroups) {
  const Result<Regex> pattern = Regex::compile("(?:loss|(acc)): ([0-9.]+)(?<unit>%)?");
  ASSERT_TRUE(pattern.ok());
  EXPECT_EQ(pattern->count_groups(), 3u);
  EXPECT_EQ(pattern->group_named("unit"), 3u);
  EXPECT_EQ(pattern->group_named("step"), std::nullopt);
  const std::string_view text = "loss: 0.5, acc: 80%";
  Regex::Match match;
  ASSERT_EQ(pattern->search(text, 0, match), Regex::Outcome::kFound);
  EXPECT_EQ(text_of(text, match.whole), "loss: 0.5");
  ASSERT_EQ(match.groups.size(), 3u);
  EXPECT_EQ(text_of(text, match.groups[0]), "(none)");
  EXPECT_EQ(text_of(text, match.groups[1]), "0.5");
  EXPECT_EQ(text_of(text, match.groups[2]), "(none)");
  ASSERT_EQ(pattern->search(text, match.whole.end, match), Regex::Outcome::kFound);
  EXPECT_EQ(text_of(text, match.groups[0]), "acc");
  EXPECT_EQ(text_of(text, match.groups[1]), "80");
  EXPECT_EQ(text_of(text, match.groups[2]), "%");
  EXPECT_EQ(pattern->search(text, match.whole.end, match), Regex::Outcome::kNotFound);
  EXPECT_EQ(pattern->search(text, text.size() + 1, match), Regex::Outcome::kNotFound);
}

TEST(Pattern, SearchesOfPatternsWithMoreAndWithFewerGroupsTakeTurns) {
  const Result<Regex> wide = Regex::compile("(a)(b)(c)(d)");
  const Result<Regex> narrow = Regex::compile("bc");
  ASSERT_TRUE(wide.ok() && narrow.ok());
  Regex::Match match;
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_EQ(narrow->search("abcd", 0, match), Regex::Outcome::kFound);
    EXPECT_TRUE(match.groups.empty());
    ASSERT_EQ(wide->search("abcd", 0, match), Regex::Outcome::kFound);
    EXPECT_EQ(text_of("abcd", match.groups.at(3)), "d");
  }
}

TEST(Pattern, SearchSaysThatItWasGivenUp) {
  set_log_sink([](LogLevel, std::string_view) {});
  const Result<Regex> pattern = Regex::compile("(x+x+)+[yz]");
  ASSERT_TRUE(pattern.ok());
  Regex::Match match;
  EXPECT_EQ(pattern->search(std::string(60, 'x'), 0, match), Regex::Outcome::kGivenUp);
  set_log_sink({});
}

TEST(PatternSet, AnyOfSeveral) {
  const Result<RegexSet> set = RegexSet::compile({"^conv", "bias$"});
  ASSERT_TRUE(set.ok());
  EXPECT_TRUE(set->found_in("conv0.weight"));
  EXPECT_TRUE(set->found_in("fc.bias"));
  EXPECT_FALSE(set->found_in("fc.weight"));
  EXPECT_FALSE(set->empty());
}

TEST(PatternSet, EmptyFindsNothing) {
  const Result<RegexSet> set = RegexSet::compile({});
  ASSERT_TRUE(set.ok());
  EXPECT_TRUE(set->empty());
  EXPECT_FALSE(set->found_in("x"));
}

TEST(PatternSet, OneBadPatternFailsAll) {
  const Result<RegexSet> set = RegexSet::compile({"fine", "("});
  EXPECT_EQ(set.status().code(), Code::kInvalidArgument);
  EXPECT_NE(set.status().message().find("\"(\""), std::string::npos);
}

}  // namespace
}  // namespace trainwarden
