#include "judge/rules/rule_status.h"

#include <array>
#include <set>
#include <utility>

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

TEST(RuleStatusTest, OnlyTheseTransitionsAre) {
  using enum RuleStatus;
  constexpr std::array kAll = {kInProgress, kIssuesFound, kNoIssuesFound, kStopping, kStopped, kError, kNotApplicable};
  const std::set<std::pair<RuleStatus, RuleStatus>> allowed = {
      {kInProgress, kIssuesFound}, {kInProgress, kNoIssuesFound}, {kInProgress, kNotApplicable}, {kInProgress, kError},
      {kInProgress, kStopping},    {kStopping, kStopped},         {kIssuesFound, kError},
  };
  for (const RuleStatus from : kAll) {
    for (const RuleStatus to : kAll) {
      EXPECT_EQ(may_follow(from, to), allowed.contains({from, to})) << name(from) << " to " << name(to);
    }
  }
}

}  // namespace
}  // namespace trainwarden::rules
