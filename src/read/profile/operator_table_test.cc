// The table by operator: calls, total and own time, shares, over several steps.
#include "read/profile/operator_table.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "read/profile/profile_testing.h"

namespace trainwarden::profile {
namespace {

std::vector<std::string> names_of(const std::vector<OperatorRow>& rows) {
  std::vector<std::string> names;
  for (const OperatorRow& row : rows) names.push_back(row.name);
  return names;
}

OperatorBatch table_step() {
  OperatorBatch batch = batch_of({{"linear", 0, 100}, {"addmm", 10, 90}, {"addmm", 100, 110}, {"relu", 150, 200}});
  batch.lost_calls = 2;
  return batch;
}

TEST(OperatorTableTest, AddsUpWhatEachOperatorTook) {
  OperatorTable table;
  table.add(table_step());
  table.add(table_step());
  const auto rows = table.rows(OperatorOrder::kTotal);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0], (OperatorRow{"linear", OperatorKind::kOperator, 2, 200, 40, 100}));
  EXPECT_EQ(rows[1], (OperatorRow{"addmm", OperatorKind::kOperator, 4, 180, 180, 80}));
  EXPECT_EQ(rows[1].mean_ns(), 45);
  EXPECT_EQ(table.wall_ns(), 400);
  EXPECT_EQ(table.share(rows[1]), 0.45);
  EXPECT_EQ(table.batches(), 2u);
  EXPECT_EQ(table.calls(), 8u);
  EXPECT_EQ(table.lost_calls(), 4u);
}

// A stretch that the program named belongs to the step in which it ends; what it called before lies in the step before.
TEST(OperatorTableTest, WhatACallHasRunInEarlierStepsIsNotItsOwnTime) {
  OperatorTable table;
  table.add(batch_of({{"addmm", 10, 60}, {"relu", 60, 100}}), "rank-00000");
  table.add(batch_of({{"epoch", 0, 200, 0, OperatorKind::kUser}, {"addmm", 110, 190}}), "rank-00000");
  EXPECT_EQ(table.rows(OperatorOrder::kTotal)[0],
            (OperatorRow{"epoch", OperatorKind::kUser, 1, 200, 200 - 90 - 80, 200}));
  OperatorTable apart;
  apart.add(batch_of({{"addmm", 10, 60}, {"relu", 60, 100}}), "rank-00000");
  apart.add(batch_of({{"epoch", 0, 200, 0, OperatorKind::kUser}, {"addmm", 110, 190}}), "rank-00001");
  EXPECT_EQ(apart.rows(OperatorOrder::kTotal)[0].self_ns, 200 - 80) << "another worker's step is none of its own";
}

TEST(OperatorTableTest, TheOrderIsAsAskedFor) {
  OperatorTable table;
  table.add(table_step());
  EXPECT_EQ(names_of(table.rows(OperatorOrder::kTotal)), (std::vector<std::string>{"linear", "addmm", "relu"}));
  EXPECT_EQ(names_of(table.rows(OperatorOrder::kSelf)), (std::vector<std::string>{"addmm", "relu", "linear"}));
  EXPECT_EQ(names_of(table.rows(OperatorOrder::kCalls)), (std::vector<std::string>{"addmm", "linear", "relu"}));
}

TEST(OperatorTableTest, ANameOfTwoKindsHasTwoRows) {
  OperatorTable table;
  table.add(batch_of({{"f", 0, 10}, {"f", 20, 50, 1, OperatorKind::kKernel}}));
  const auto rows = table.rows(OperatorOrder::kTotal);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].kind, OperatorKind::kKernel);
  EXPECT_EQ(rows[1].kind, OperatorKind::kOperator);
}

TEST(OperatorTableTest, ARecursiveCallCountsItsTimeOnce) {
  OperatorTable table;
  table.add(batch_of({{"f", 0, 100}, {"f", 10, 60}}));
  EXPECT_EQ(table.rows(OperatorOrder::kTotal)[0], (OperatorRow{"f", OperatorKind::kOperator, 2, 100, 100, 100}));
}

TEST(OperatorTableTest, AnEmptyTableHasNoShares) {
  OperatorTable table;
  table.add(OperatorBatch());
  EXPECT_TRUE(table.rows(OperatorOrder::kSelf).empty());
  EXPECT_EQ(table.share(OperatorRow()), 0);
}

TEST(OperatorTableTest, RowsHaveALimit) {
  OperatorBatch batch;
  batch.tracks = {{"main", 1, false}};
  for (std::uint32_t i = 0; i < kMaxTableRows + 3; ++i) {
    batch.names.push_back("f" + std::to_string(i));
    batch.calls.push_back({i, 0, OperatorKind::kOperator, i, 1, -1});
  }
  OperatorTable table;
  table.add(batch);
  EXPECT_EQ(table.rows(OperatorOrder::kSelf).size(), kMaxTableRows);
  EXPECT_EQ(table.unlisted_calls(), 3u);
}

}  // namespace
}  // namespace trainwarden::profile
