// Operators and sampled stacks of one step, taken apart.
#include "read/profile/call_family.h"

#include <gtest/gtest.h>

namespace trainwarden::profile {
namespace {

OperatorBatch mixed() {
  OperatorBatch batch;
  batch.names = {"aten::mm", "main (train.py:3)"};
  batch.tracks = {{"thread 1", 1, false}, {"python thread MainThread", 1, false}, {"GPU-0 stream 7", 7, true}};
  batch.calls = {{0, 0, OperatorKind::kOperator, 10, 5, -1},
                 {1, 1, OperatorKind::kPythonStack, 0, 20, -1},
                 {0, 2, OperatorKind::kKernel, 12, 2, -1}};
  batch.memory = {{11, 4, 4, 0}};
  batch.lost_calls = 2;
  return batch;
}

TEST(CallFamily, OperatorsKeepTheirTracksAndTheMemory) {
  const OperatorBatch operators = calls_of(mixed(), CallFamily::kOperators);
  ASSERT_EQ(operators.tracks.size(), 2u);
  EXPECT_EQ(operators.tracks[1].name, "GPU-0 stream 7");
  ASSERT_EQ(operators.calls.size(), 2u);
  EXPECT_EQ(operators.calls[1].track, 1u);
  EXPECT_EQ(operators.calls[1].kind, OperatorKind::kKernel);
  EXPECT_EQ(operators.memory.size(), 1u);
  EXPECT_EQ(operators.lost_calls, 2u);
}

TEST(CallFamily, StacksAreAlone) {
  EXPECT_TRUE(has_calls_of(mixed(), CallFamily::kPython));
  const OperatorBatch stacks = calls_of(mixed(), CallFamily::kPython);
  ASSERT_EQ(stacks.tracks.size(), 1u);
  ASSERT_EQ(stacks.calls.size(), 1u);
  EXPECT_EQ(stacks.calls[0].track, 0u);
  EXPECT_TRUE(stacks.memory.empty());
  EXPECT_EQ(stacks.lost_calls, 0u);
  EXPECT_FALSE(has_calls_of(stacks, CallFamily::kOperators));
}

}  // namespace
}  // namespace trainwarden::profile
