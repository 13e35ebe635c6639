// Which call lies within which: nested, side by side, overlapping in part, ending before they start, in any order.
#include "read/profile/call_nesting.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "read/profile/profile_testing.h"

namespace trainwarden::profile {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers parents(const std::vector<CallPlace>& places) {
  Numbers all;
  for (const CallPlace& place : places) all.push_back(place.parent);
  return all;
}

Numbers selves(const std::vector<CallPlace>& places) {
  Numbers all;
  for (const CallPlace& place : places) all.push_back(place.self_ns);
  return all;
}

TEST(CallNestingTest, CallsLieWithinThoseThatHoldThem) {
  const auto places =
      nest_calls(batch_of({{"linear", 0, 100}, {"t", 5, 10}, {"addmm", 10, 90}, {"copy", 20, 30}, {"relu", 100, 120}}));
  EXPECT_EQ(parents(places), (Numbers{-1, 0, 0, 2, -1}));
  EXPECT_EQ(selves(places), (Numbers{15, 5, 70, 10, 20}));
  EXPECT_EQ(places[3].depth, 2u);
}

TEST(CallNestingTest, TracksDoNotHoldEachOther) {
  const auto places = nest_calls(batch_of({{"a", 0, 100}, {"b", 10, 20, 1}, {"c", 12, 14, 1}}));
  EXPECT_EQ(parents(places), (Numbers{-1, -1, 1}));
  EXPECT_EQ(selves(places), (Numbers{100, 8, 2}));
}

TEST(CallNestingTest, OfEqualStartsTheLongerHoldsTheOther) {
  const auto places = nest_calls(batch_of({{"short", 0, 5}, {"long", 0, 50}, {"middle", 0, 20}, {"twin", 0, 20}}));
  EXPECT_EQ(parents(places), (Numbers{3, -1, 1, 2}));
  EXPECT_EQ(selves(places), (Numbers{5, 30, 0, 15}));
}

TEST(CallNestingTest, CallsThatOverlapInPartLieSideBySide) {
  const auto places = nest_calls(batch_of({{"outer", 0, 100}, {"a", 10, 60}, {"b", 40, 90}, {"in b", 70, 80}}));
  EXPECT_EQ(parents(places), (Numbers{-1, 0, 0, 2}));
  EXPECT_EQ(selves(places), (Numbers{20, 50, 40, 10})) << "what two of them cover is taken from the outer one once";
}

TEST(CallNestingTest, OneThatEndsBeforeItStartsTakesNoTime) {
  const auto places = nest_calls(batch_of({{"outer", 0, 100}, {"odd", 50, 20}, {"after", 50, 60}, {"last", 100, 90}}));
  EXPECT_EQ(parents(places), (Numbers{-1, 2, 0, -1}));
  EXPECT_EQ(selves(places), (Numbers{90, 0, 10, 0}));
}

TEST(CallNestingTest, ACallWithinItsOwnLikeIsKnown) {
  const auto places = nest_calls(batch_of({{"f", 0, 100},
                                           {"g", 10, 90},
                                           {"f", 20, 80},
                                           {"f", 30, 40, 0, OperatorKind::kUser},
                                           {"f", 100, 110},
                                           {"f", 0, 9, 1}}));
  std::vector<bool> within;
  for (const CallPlace& place : places) within.push_back(place.within_own);
  EXPECT_EQ(within, (std::vector<bool>{false, false, true, false, false, false}));
}

TEST(CallNestingTest, TheOrderOfTheCallsDoesNotMatter) {
  OperatorBatch batch = batch_of({{"a", 0, 100}, {"b", 10, 90}, {"c", 20, 30}, {"d", 1, 5, 1}});
  const auto places = nest_calls(batch);
  std::reverse(batch.calls.begin(), batch.calls.end());
  auto reversed = nest_calls(batch);
  std::reverse(reversed.begin(), reversed.end());
  EXPECT_EQ(selves(reversed), selves(places));
  EXPECT_EQ(reversed[2].depth, 2u);
}

TEST(CallNestingTest, TheSpanIsFromTheFirstStartToTheLastEnd) {
  EXPECT_EQ(span_of(batch_of({{"a", 10, 500}, {"b", 20, 30}, {"c", 5, 1, 1}})).duration_ns(), 495);
  EXPECT_EQ(span_of(OperatorBatch()).duration_ns(), 0);
}

// A hundred thousand calls, each within the one before.
TEST(CallNestingTest, DeepStacksAreNoTrouble) {
  std::vector<TestCall> calls;
  constexpr std::int64_t kDeep = 100'000;
  for (std::int64_t i = 0; i < kDeep; ++i) calls.push_back({"f", i, 2 * kDeep - i});
  const auto places = nest_calls(batch_of(calls));
  EXPECT_EQ(places.back().depth, kDeep - 1);
  EXPECT_EQ(places.front().self_ns, 2);
}

}  // namespace
}  // namespace trainwarden::profile
