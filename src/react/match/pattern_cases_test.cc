// The table in testdata/patterns/cases.txt: each pattern alone, with all others in one automaton, and by the reference.
#include <gtest/gtest.h>

#include <test_paths.h>
#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "react/match/matcher.h"
#include "react/match/reference_matcher.h"

namespace trainwarden::match {
namespace {

struct EventCase {
  std::string event;
  bool match = false;
  bool for_reference = true;
  int line = 0;
};

struct PatternCase {
  std::string pattern;
  std::string error;  // "" when it is a pattern
  std::vector<EventCase> events;
  int line = 0;
};

bool take_front(std::string& line, const std::string& mark) {
  if (line.compare(0, mark.size(), mark) != 0) return false;
  line.erase(0, mark.size());
  return true;
}

std::vector<PatternCase> read_cases() {
  std::ifstream file(TW_SOURCE_DIR "/testdata/patterns/cases.txt");
  std::vector<PatternCase> cases;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    if (take_front(line, "? ")) {
      cases.push_back({line, "", {}, number});
    } else if (take_front(line, "! ")) {
      cases.back().error = line;
    } else if (take_front(line, "+! ")) {
      cases.back().events.push_back({line, true, false, number});
    } else if (take_front(line, "-! ")) {
      cases.back().events.push_back({line, false, false, number});
    } else if (take_front(line, "+ ")) {
      cases.back().events.push_back({line, true, true, number});
    } else if (take_front(line, "- ")) {
      cases.back().events.push_back({line, false, true, number});
    } else {
      EXPECT_TRUE(line.empty() || line.front() == '#') << "line " << number << ": " << line;
    }
  }
  return cases;
}

// Only those that are patterns.
std::vector<PatternCase> valid_cases() {
  auto cases = read_cases();
  cases.erase(std::remove_if(cases.begin(), cases.end(), [](const PatternCase& one) { return !one.error.empty(); }),
              cases.end());
  return cases;
}

TEST(PatternCases, ThereAreEnough) {
  std::size_t count = 0;
  for (const PatternCase& one : read_cases()) {
    count += one.error.empty() ? one.events.size() : 1;
    EXPECT_TRUE(!one.events.empty() || !one.error.empty()) << "line " << one.line << " is about nothing";
  }
  EXPECT_GE(count, 300u);
}

TEST(PatternCases, EachAlone) {
  for (const PatternCase& one : valid_cases()) {
    const auto pattern = Pattern::parse(one.pattern);
    ASSERT_TRUE(pattern.ok()) << "line " << one.line << ": " << pattern.status().to_string();
    for (const EventCase& event : one.events) {
      const auto match = matches(*pattern, event.event);
      ASSERT_TRUE(match.ok()) << "line " << event.line << ": " << match.status().to_string();
      EXPECT_EQ(*match, event.match) << "line " << event.line << ": " << one.pattern << "\n" << event.event;
    }
  }
}

TEST(PatternCases, WhatIsWrongIsRefusedWithPlaceAndReason) {
  for (const PatternCase& one : read_cases()) {
    if (one.error.empty()) continue;
    const auto pattern = Pattern::parse(one.pattern);
    ASSERT_FALSE(pattern.ok()) << "line " << one.line << ": " << one.pattern;
    EXPECT_EQ(pattern.status().code(), Code::kInvalidArgument);
    EXPECT_NE(pattern.status().message().find(one.error), std::string::npos)
        << "line " << one.line << ": " << one.pattern << "\nsays: " << pattern.status().message();
    EXPECT_NE(pattern.status().message().find("line 1, column "), std::string::npos) << pattern.status().message();
  }
}

TEST(PatternCases, TheReferenceSaysTheSame) {
  for (const PatternCase& one : valid_cases()) {
    const auto pattern = nlohmann::json::parse(one.pattern);
    for (const EventCase& event : one.events) {
      if (!event.for_reference) continue;
      EXPECT_EQ(reference::matches(pattern, nlohmann::json::parse(event.event)), event.match)
          << "line " << event.line << ": " << one.pattern << "\n"
          << event.event;
    }
  }
}

// Every event of the table against every pattern of the table, in one automaton.
TEST(PatternCases, AllInOneAutomaton) {
  const auto cases = valid_cases();
  MatcherBuilder builder;
  std::vector<std::vector<reference::AllOf>> references;
  for (const PatternCase& one : cases) {
    builder.add(*Pattern::parse(one.pattern));
    references.push_back(reference::alternatives(nlohmann::json::parse(one.pattern), {}));
  }
  const Matcher matcher = builder.build();
  for (std::size_t owner = 0; owner < cases.size(); ++owner) {
    for (const EventCase& event : cases[owner].events) {
      const auto numbers = matcher.match(event.event);
      ASSERT_TRUE(numbers.ok()) << "line " << event.line << ": " << numbers.status().to_string();
      ASSERT_TRUE(std::is_sorted(numbers->begin(), numbers->end()));
      const auto has = [&](std::size_t pattern) {
        return std::binary_search(numbers->begin(), numbers->end(), static_cast<std::uint32_t>(pattern));
      };
      EXPECT_EQ(has(owner), event.match) << "line " << event.line << ": " << event.event;
      if (!event.for_reference) continue;
      const auto values = reference::flatten(nlohmann::json::parse(event.event));
      for (std::size_t pattern = 0; pattern < cases.size(); ++pattern) {
        EXPECT_EQ(has(pattern), reference::matches(references[pattern], values)) << cases[pattern].pattern << "\n"
                                                                                 << event.event;
      }
    }
  }
}

}  // namespace
}  // namespace trainwarden::match
