// Operator calls of a trial: by worker and step, while the run grows.
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "read/trial/run_testing.h"

namespace trainwarden {
namespace {

OperatorBatch calls_of(std::int64_t step) {
  OperatorBatch batch;
  batch.global_step = step;
  batch.names = {"aten::mm"};
  batch.tracks = {{"thread 1", 1, false}};
  batch.calls = {{0, 0, OperatorKind::kOperator, 1'000 + step, 5, -1}};
  return batch;
}

TEST(TrialOperators, AreThoseOfTheWorkerAndTheStep) {
  TestRun run(2);
  run.add_steps(0, 3);
  run.operators(calls_of(2));
  run.add_steps(0, 3, 1);
  run.operators(calls_of(1), 1);
  const auto trial = run.open();
  EXPECT_EQ(trial->operator_steps("rank-00000"), std::vector<std::int64_t>{2});
  EXPECT_EQ(trial->operator_steps("rank-00001"), std::vector<std::int64_t>{1});
  EXPECT_EQ(trial->operators("rank-00000", 2).value_or({}), calls_of(2));
  EXPECT_EQ(trial->operators("rank-00001", 2).status().code(), Code::kNotFound);
  run.operators(calls_of(3));
  EXPECT_EQ(trial->operator_steps("rank-00000"), std::vector<std::int64_t>{2}) << "before a refresh";
  ASSERT_TRUE(trial->refresh().ok());
  EXPECT_EQ(trial->operator_steps("rank-00000"), (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(trial->operators("rank-00000", 3).value_or({}), calls_of(3));
}

TEST(TrialOperators, AWorkerThatIsNotThereHasNone) {
  TestRun run;
  run.add_steps(0, 1);
  const auto trial = run.open();
  EXPECT_TRUE(trial->operator_steps("rank-00007").empty());
  const Status status = trial->operators("rank-00007", 0).status();
  EXPECT_EQ(status.code(), Code::kNotFound);
  EXPECT_NE(status.message().find("rank-00007"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace trainwarden
