// The flame tree: equal stacks are one, times add up.
#include "read/profile/flame_tree.h"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "read/profile/profile_testing.h"

namespace trainwarden::profile {
namespace {

struct FlameTimes {
  std::uint64_t calls = 0;
  std::int64_t self_ns = 0;
  std::int64_t total_ns = 0;
  friend bool operator==(const FlameTimes&, const FlameTimes&) = default;
};

std::map<std::string, FlameTimes> times_of(const FlameTree& tree) {
  std::map<std::string, FlameTimes> all;
  std::vector<std::string> stacks(tree.nodes().size());
  for (std::size_t i = 1; i < tree.nodes().size(); ++i) {
    const FlameNode& node = tree.nodes()[i];
    EXPECT_LT(node.parent, i);
    stacks[i] = (node.parent == 0 ? "" : stacks[node.parent] + ";") + tree.names()[node.name];
    all[stacks[i]] = {node.calls, node.self_ns, node.total_ns};
  }
  return all;
}

TEST(FlameTreeTest, EqualStacksAreOne) {
  const OperatorBatch batch =
      batch_of({{"linear", 0, 100}, {"addmm", 10, 60}, {"linear", 200, 300}, {"addmm", 200, 250}, {"addmm", 400, 410}});
  FlameTree tree;
  tree.add(batch, "rank-00000");
  tree.add(batch, "rank-00000");
  const std::map<std::string, FlameTimes> expected = {{"rank-00000 main", {0, 0, 420}},
                                                      {"rank-00000 main;linear", {4, 200, 400}},
                                                      {"rank-00000 main;linear;addmm", {4, 200, 200}},
                                                      {"rank-00000 main;addmm", {2, 20, 20}},
                                                      {"rank-00000 stream", {0, 0, 0}}};
  EXPECT_EQ(times_of(tree), expected);
  EXPECT_EQ(tree.nodes()[0].total_ns, 420);
}

TEST(FlameTreeTest, TracksAndWorkersHaveStacksOfTheirOwn) {
  FlameTree tree;
  tree.add(batch_of({{"f", 0, 10}, {"k", 0, 5, 1}}), "rank-00000");
  tree.add(batch_of({{"f", 0, 7}}), "rank-00001");
  const auto times = times_of(tree);
  EXPECT_EQ(times.at("rank-00000 main;f").self_ns, 10);
  EXPECT_EQ(times.at("rank-00000 stream;k").self_ns, 5);
  EXPECT_EQ(times.at("rank-00001 main;f").self_ns, 7);
}

TEST(FlameTreeTest, WhatHasNoRoomIsTheTimeOfTheCallAround) {
  OperatorBatch batch = batch_of({{"outer", 0, 1}});
  batch.names.clear();
  batch.names.emplace_back("outer");
  batch.calls[0].duration_ns = std::int64_t{1} << 40;
  for (std::uint32_t i = 0; i < kMaxFlameNodes; ++i) {
    batch.names.push_back(std::to_string(i));
    batch.calls.push_back({i + 1, 0, OperatorKind::kOperator, 10 * i, 5, -1});
  }
  FlameTree tree;
  tree.add(batch);
  EXPECT_EQ(tree.nodes().size(), kMaxFlameNodes);
  EXPECT_EQ(tree.merged_calls(), 4u) << "root, two tracks and the outer call have a node, too";
  EXPECT_EQ(tree.nodes()[0].total_ns, std::int64_t{1} << 40);
}

}  // namespace
}  // namespace trainwarden::profile
