// What the automaton is made of, part by part, each against something that is obviously right.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "react/match/address.h"
#include "react/match/case_folding.h"
#include "react/match/glob_automaton.h"
#include "react/match/json_number.h"
#include "react/match/range_index.h"
#include "react/match/reference_matcher.h"
#include "react/match/text_table.h"

namespace trainwarden::match {
namespace {

std::string folded(const std::string& text) {
  std::string answer;
  fold_case(text, answer);
  return answer;
}

TEST(CaseFolding, OneCharacterForOne) {
  EXPECT_EQ(folded("AbC zZ[@"), "abc zz[@");
  EXPECT_EQ(folded("ÄÖÜ×Þ"), "äöü×þ");
  EXPECT_EQ(folded("ΣΑΣς"), "σασσ");
  EXPECT_EQ(folded("МоСква Ђ"), "москва ђ");
  EXPECT_EQ(folded("ẞß"), "ßß");
  EXPECT_EQ(folded("\xe2\x84\xaa"), "k");                     // the Kelvin sign
  EXPECT_EQ(folded("\xf0\x90\x90\x80"), "\xf0\x90\x90\xa8");  // Deseret: four bytes
  EXPECT_EQ(folded("Ąć"), "ąć");
  EXPECT_EQ(folded("😀日本"), "😀日本");
}

TEST(JsonNumber, TheNearestDouble) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(number_of("3.018e2"), 301.8);
  EXPECT_EQ(number_of("-0"), 0);
  EXPECT_EQ(number_of("18446744073709551616"), 18446744073709551616.0);
  EXPECT_EQ(number_of("1.7976931348623157e308"), std::numeric_limits<double>::max());
  EXPECT_EQ(number_of("5e-324"), std::numeric_limits<double>::denorm_min());
  EXPECT_EQ(number_of("1e400"), kInfinity);
  EXPECT_EQ(number_of("-1E+400"), -kInfinity);
  EXPECT_EQ(number_of("1e-400"), 0);
  EXPECT_EQ(number_of("0e999999999999999999999"), 0);
  EXPECT_EQ(number_of("1e99999999999999999999999"), kInfinity);
  EXPECT_EQ(number_of("-1e-99999999999999999999999"), 0);
  EXPECT_EQ(number_of(std::string(400, '9')), kInfinity);
  EXPECT_EQ(number_of("0." + std::string(400, '0') + "1"), 0);
  EXPECT_EQ(number_of("0." + std::string(400, '0') + "1e401"), 1);
  EXPECT_EQ(number_of("1" + std::string(400, '0') + "e-400"), 1);
}

TEST(TextTable, FindsWhatWasAddedAndNothingElse) {
  TextTable table;
  EXPECT_EQ(table.find(""), TextTable::kNone);
  std::set<std::string> texts = {""};
  std::mt19937 random(5);
  while (texts.size() < 2000) {
    std::string text(random() % 20, 'a');
    for (char& c : text) c = static_cast<char>('a' + random() % 3);
    texts.insert(text);
  }
  std::uint32_t number = 0;
  for (const std::string& text : texts) table.add(text, number++);
  number = 0;
  for (const std::string& text : texts) {
    EXPECT_EQ(table.find(text), number++);
    EXPECT_EQ(table.find(text + "d"), TextTable::kNone);
  }
}

TEST(RangeIndex, FindsTheRangesThatAPointIsIn) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<RangeIndex<double>::Range> ranges;
    for (std::uint32_t i = 0; i < 1 + random() % 40; ++i) {
      const double bottom = static_cast<double>(random() % 20);
      const double top = bottom + static_cast<double>(random() % 5);
      const bool point = bottom == top;
      ranges.push_back({random() % 9 == 0 ? -INFINITY : bottom, random() % 9 == 0 ? INFINITY : top,
                        !point && random() % 2 == 0, !point && random() % 2 == 0, i});
    }
    const RangeIndex<double> index(ranges);
    for (double key = -1; key < 30; key += 0.5) {
      std::multiset<std::uint32_t> expected;
      for (const auto& range : ranges) {
        const bool above = range.without_bottom ? key > range.bottom : key >= range.bottom;
        const bool below = range.without_top ? key < range.top : key <= range.top;
        if (above && below) expected.insert(range.number);
      }
      std::multiset<std::uint32_t> found;
      index.find(key, [&](std::uint32_t number) { found.insert(number); });
      EXPECT_EQ(found, expected) << key;
    }
  }
}

// All globs and all texts of few letters, each found once.
TEST(GlobAutomaton, FindsWhatEachGlobAloneWouldMatch) {
  const std::vector<std::string> wildcards = {"*",    "a*",    "*a",   "a*b",    "*ab*",  "*a*b*",   "ab*ab", "*aab",
                                              "a*a*", "b*a*b", "*b*b", "*a*a*a", "abab*", "*ba*ab*", "a*ab"};
  GlobAutomatonBuilder builder;
  for (std::uint32_t i = 0; i < wildcards.size(); ++i) {
    Glob glob;
    glob.parts.emplace_back();
    for (const char c : wildcards[i])
      c == '*' ? glob.parts.emplace_back() : (glob.parts.back() += c, glob.parts.back());
    builder.add(glob, i);
  }
  const GlobAutomaton automaton = builder.build();
  GlobMemory memory;
  for (int length = 0; length <= 9; ++length) {
    for (int bits = 0; bits < 1 << length; ++bits) {
      std::string text;
      for (int i = 0; i < length; ++i) text.push_back((bits >> i & 1) != 0 ? 'a' : 'b');
      std::multiset<std::uint32_t> expected;
      for (std::uint32_t i = 0; i < wildcards.size(); ++i) {
        if (reference::glob(wildcards[i], 0, text, 0)) expected.insert(i);
      }
      std::multiset<std::uint32_t> found;
      automaton.find(text, memory, [&](std::uint32_t number) { found.insert(number); });
      ASSERT_EQ(found, expected) << text;
    }
  }
}

TEST(Address, RangesOfCidr) {
  const auto range = parse_cidr("10.1.2.3/20");
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->first.low, 0x0a010000u);
  EXPECT_EQ(range->last.low, 0x0a010fffu);
  const auto wide = parse_cidr("2001:db8::1/61");
  ASSERT_TRUE(wide.ok());
  EXPECT_EQ(wide->first.high, 0x20010db800000000u);
  EXPECT_EQ(wide->last.high, 0x20010db800000007u);
  EXPECT_EQ(wide->first.low, 0u);
  EXPECT_EQ(wide->last.low, ~std::uint64_t{0});
  for (const char* text : {"", "/", "10.0.0.0/", "/8", "10.0.0.0/8/8", "10.0.0.0/+8", "10.0.0.0/0008", "::/1 28"}) {
    EXPECT_FALSE(parse_cidr(text).ok()) << text;
  }
  EXPECT_FALSE(parse_address(std::string("10.0.0.1\0", 9)).has_value());
}

}  // namespace
}  // namespace trainwarden::match
