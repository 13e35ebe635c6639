#include "judge/rules/builtin/training/collective_order.h"

#include <gtest/gtest.h>

namespace trainwarden::rules {
namespace {

WorkerStall stall(std::string worker, std::vector<GroupState> groups) {
  StallReport report;
  report.groups = std::move(groups);
  return {std::move(worker), std::move(report)};
}

GroupState in(std::int64_t number, std::string operation, std::vector<std::int64_t> sizes = {}) {
  return {"0", "0-1", number, std::move(operation), std::move(sizes), false};
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(CollectiveOrder, NamesWhoIsBehindAndWhatTheOthersWaitIn) {
  const std::string text =
      compare_collectives({stall("rank-00000", {in(41, "")}), stall("rank-00001", {in(42, "all_reduce", {4})})});
  EXPECT_TRUE(has(text, "rank-00001 is at all_reduce of [4] (number 42)")) << text;
  EXPECT_TRUE(has(text, "behind it are rank-00000 (1 fewer)")) << text;
}

TEST(CollectiveOrder, ARandomStartOfTheNumbersIsNotTold) {
  const std::string text = compare_collectives(
      {stall("rank-00000", {in(1804289388, "all_reduce")}), stall("rank-00001", {in(1804289386, "")})});
  EXPECT_TRUE(has(text, "rank-00001 (2 fewer)")) << text;
  EXPECT_FALSE(has(text, "1804")) << text;
}

TEST(CollectiveOrder, DifferentOperationsAtOneNumberWaitForEachOther) {
  const std::string text =
      compare_collectives({stall("rank-00000", {in(4, "all_reduce")}), stall("rank-00001", {in(4, "broadcast")})});
  EXPECT_TRUE(has(text, "rank-00000 calls all_reduce (number 4), and rank-00001 calls broadcast (number 4)")) << text;
}

TEST(CollectiveOrder, SizesCountWhereTheyMustBeTheSame) {
  const auto text_of = [](const char* operation) {
    return compare_collectives(
        {stall("rank-00000", {in(4, operation, {4})}), stall("rank-00001", {in(4, operation, {5})})});
  };
  EXPECT_TRUE(has(text_of("all_reduce"), "calls all_reduce of [5]")) << text_of("all_reduce");
  EXPECT_FALSE(has(text_of("all_gather"), "calls")) << text_of("all_gather");
}

TEST(CollectiveOrder, SaysWhenAllAreInTheSame) {
  const std::string text =
      compare_collectives({stall("rank-00000", {in(4, "all_reduce")}), stall("rank-00001", {in(4, "all_reduce")})});
  EXPECT_EQ(text, " All of them are in the same all_reduce (number 4).");
}

TEST(CollectiveOrder, GroupsAreComparedByThemselves) {
  GroupState other = in(9, "barrier");
  other.ranks = "2-3";  // of that name, and yet another one
  GroupState third = in(7, "barrier");
  third.group = "5";
  EXPECT_EQ(compare_collectives({stall("rank-00000", {in(4, "all_reduce")}), stall("rank-00002", {other}),
                                 stall("rank-00003", {third})}),
            "");
}

TEST(CollectiveOrder, WhatHasEndedIsNotWaitedFor) {
  GroupState ended = in(4, "all_reduce");
  ended.is_complete = true;
  EXPECT_EQ(compare_collectives({stall("rank-00000", {ended}), stall("rank-00001", {ended})}), "");
}

TEST(CollectiveOrder, NothingWithoutReports) {
  EXPECT_EQ(compare_collectives({}), "");
  EXPECT_EQ(compare_collectives({stall("rank-00000", {}), stall("rank-00001", {})}), "");
}

}  // namespace
}  // namespace trainwarden::rules
