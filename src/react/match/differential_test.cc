// Random patterns and random events: the automaton must say what the reference says.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "react/match/matcher.h"
#include "react/match/reference_matcher.h"

namespace trainwarden::match {
namespace {

using Json = nlohmann::json;

// Few names, few values and many arrays, so that patterns and events meet.
class Maker {
 public:
  explicit Maker(unsigned seed) : random_(seed) {}

  std::size_t pick(std::size_t below) { return random_() % below; }

  Json pattern(int depth = 0) {
    Json object = Json::object();
    for (std::size_t count = 1 + pick(2); count > 0; --count) {
      // A name is either of values or of objects, and "o" and "p" are of objects.
      if (depth < 3 && pick(3) == 0) {
        object[pick(2) == 0 ? "o" : "p"] = pattern(depth + 1);
      } else {
        object[name()] = tests();
      }
    }
    if (depth < 3 && pick(4) == 0) {
      object["$or"] = Json::array({pattern(depth + 2), pattern(depth + 2)});
      if (pick(3) == 0) object["$or"].push_back(pattern(depth + 2));
    }
    return object;
  }

  Json event(int depth = 0) {
    Json object = Json::object();
    for (std::size_t count = 1 + pick(6); count > 0; --count) {
      if (depth < 4 && pick(2) == 0) {
        object[pick(2) == 0 ? "o" : "p"] = several(depth, [&] { return event(depth + 1); });
      } else {
        object[name()] = several(depth, [&] { return value(); });
      }
    }
    return object;
  }

 private:
  template <class Make>
  Json several(int depth, Make&& make) {
    if (pick(2) == 0) return make();
    Json array = Json::array();
    for (std::size_t count = pick(4); count > 0; --count) {
      array.push_back(pick(5) == 0 && depth < 4 ? several(depth + 1, make) : make());
    }
    return array;
  }

  std::string name() { return std::string(1, static_cast<char>('a' + pick(4))); }
  std::string text() {
    static const std::vector<std::string> kTexts = {"",   "a",   "b",    "ab",  "ba",  "aab",      "abab",        "A",
                                                    "Ab", "ä",   "Äb",   "*",   "a*b", "10.0.0.7", "10.1.2.3",    "::1",
                                                    "aa", "bab", "abba", "a\\", "\"",  "10",       "2001:db8::1", "ß"};
    return kTexts[pick(kTexts.size())];
  }
  Json number() {
    static const std::vector<Json> kNumbers = {0, -1, 1, 1.0, 2, 2.5, 1e3, -0.0, 1e300, 9007199254740993, 10};
    return kNumbers[pick(kNumbers.size())];
  }
  Json value() {
    switch (pick(6)) {
      case 0: return nullptr;
      case 1: return pick(2) == 0;
      case 2:
      case 3: return number();
      default: return text();
    }
  }

  Json tests() {
    Json list = Json::array();
    for (std::size_t count = 1 + pick(3); count > 0; --count) list.push_back(test());
    return list;
  }

  std::string wildcard() {
    static const std::vector<std::string> kWildcards = {"*",   "a*",    "*b",    "a*b", "*a*", "*ab*b", "a*a*b",
                                                        "\\*", "a\\*b", "*\\\\", "",    "ab",  "*ä",    "*a*b*a"};
    return kWildcards[pick(kWildcards.size())];
  }
  std::string short_text() { return pick(3) == 0 ? "ab" : pick(2) == 0 ? "a" : "b"; }
  Json maybe_list(Json one, Json other) { return pick(2) == 0 ? one : Json::array({one, other}); }

  Json numeric() {
    switch (pick(4)) {
      case 0: return Json::array({"=", number()});
      case 1: return Json::array({pick(2) == 0 ? "<" : "<=", number()});
      case 2: return Json::array({pick(2) == 0 ? ">" : ">=", number()});
      default: return Json::array({pick(2) == 0 ? ">" : ">=", pick(3), pick(2) == 0 ? "<" : "<=", 3 + pick(9)});
    }
  }
  Json anything_but() {
    switch (pick(6)) {
      case 0: return maybe_list(text(), text());
      case 1: return maybe_list(number(), number());
      case 2: return {{"prefix", maybe_list(short_text(), short_text())}};
      case 3: return {{"suffix", maybe_list(short_text(), short_text())}};
      case 4: return {{"equals-ignore-case", maybe_list(text(), text())}};
      default: return {{"wildcard", maybe_list(wildcard(), wildcard())}};
    }
  }
  Json test() {
    switch (pick(14)) {
      case 0: return {{"prefix", text()}};
      case 1: return {{"suffix", text()}};
      case 2: return {{"prefix", {{"equals-ignore-case", text()}}}};
      case 3: return {{"suffix", {{"equals-ignore-case", text()}}}};
      case 4: return {{"equals-ignore-case", text()}};
      case 5: return {{"wildcard", wildcard()}};
      case 6: return {{"anything-but", anything_but()}};
      case 7: return {{"numeric", numeric()}};
      case 8: return {{"exists", true}};
      case 9: return {{"exists", false}};
      case 10: return {{"cidr", pick(2) == 0 ? "10.0.0.0/16" : pick(2) == 0 ? "10.0.0.0/8" : "::/64"}};
      case 11: return {{"exactly", text()}};
      default: return value();
    }
  }

  std::mt19937 random_;
};

// How many matches there were.
std::size_t compare(unsigned seed, int patterns, int events) {
  Maker maker(seed);
  MatcherBuilder builder;
  std::vector<std::string> texts;
  std::vector<std::vector<reference::AllOf>> references;
  for (int i = 0; i < patterns; ++i) {
    const Json json = maker.pattern();
    auto alternatives = reference::alternatives(json, {});
    if (alternatives.size() > 30) continue;  // the reference would take its time
    const auto pattern = Pattern::parse(json.dump());
    EXPECT_TRUE(pattern.ok()) << json << "\n" << pattern.status().to_string();
    if (!pattern.ok()) return 0;
    builder.add(*pattern);
    texts.push_back(json.dump());
    references.push_back(std::move(alternatives));
  }
  const Matcher matcher = builder.build();
  std::size_t matched = 0;
  for (int i = 0; i < events; ++i) {
    const Json json = maker.event();
    const auto numbers = matcher.match(json.dump(maker.pick(2) == 0 ? -1 : 2, ' ', maker.pick(2) == 0));
    EXPECT_TRUE(numbers.ok()) << json << "\n" << numbers.status().to_string();
    if (!numbers.ok()) return 0;
    const auto values = reference::flatten(json);
    for (std::uint32_t p = 0; p < texts.size(); ++p) {
      const bool expected = reference::matches(references[p], values);
      matched += expected ? 1 : 0;
      EXPECT_EQ(std::binary_search(numbers->begin(), numbers->end(), p), expected) << texts[p] << "\n" << json;
    }
  }
  return matched;
}

// The reference, compiled without optimisation and under a sanitizer, would take two minutes for all of them.
#if defined(TW_SANITIZED)
constexpr unsigned kLargeRounds = 1;
constexpr unsigned kSmallRounds = 10;
#else
constexpr unsigned kLargeRounds = 8;
constexpr unsigned kSmallRounds = 100;
#endif

// Without many matches the tests would say little.
TEST(Differential, ManyPatternsInOneAutomaton) {
  for (unsigned seed = 1; seed <= kLargeRounds; ++seed) EXPECT_GT(compare(seed, 300, 60), 300u);
}

TEST(Differential, FewPatternsAndManyEvents) {
  std::size_t matched = 0;
  for (unsigned seed = 0; seed < kSmallRounds; ++seed) matched += compare(100 + seed, 5, 100);
  EXPECT_GT(matched, 20u * kSmallRounds);
}

}  // namespace
}  // namespace trainwarden::match
