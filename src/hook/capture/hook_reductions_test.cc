// Single reductions through the hook: kept when the tensor is wanted, beside its value, counted when lost.
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hook/capture/capture_testing.h"

namespace trainwarden::capture {
namespace {

class HookReductions : public testing::Test {
 protected:
  std::unique_ptr<Hook> open(HookOptions options) { return open_hook_on(*storage_, std::move(options)); }
  ReadRun read() { return read_run(*storage_); }

  const std::unique_ptr<storage::MemoryStorage> storage_ = storage::create_memory_storage();
};

TEST_F(HookReductions, SingleReductionsAreKeptWhenTheTensorIsWanted) {
  HookOptions options = keep_all_of("^kept");
  options.save = SavePolicy::every(2);
  const auto hook = open(options);
  const std::vector<SavedReduction> reductions = {{Reduction::kMean, true, 0.5}, {Reduction::kProd, false, -0.0}};
  const TensorId kept = hook->declare("kept/by/id");
  for (int step = 0; step < 3; ++step) {
    hook->save_reductions(kept, reductions);
    hook->save_reductions("kept", {});
    hook->save_reductions("unwanted", reductions);
    hook->end_step();
  }
  ASSERT_TRUE(hook->close().ok());
  const ReadRun run = read();
  ASSERT_EQ(run.steps.size(), 2u);
  EXPECT_EQ(run.steps[1].entry.global_step, 2);
  EXPECT_EQ(run.steps[1].reductions.size(), 1u);
  EXPECT_EQ(run.steps[1].reductions.at("kept/by/id"), reductions);
  EXPECT_EQ(hook->report().reductions, 4u);
  EXPECT_TRUE(hook->report().losses.empty());
}

TEST_F(HookReductions, SingleReductionsLieBesideTheValue) {
  const auto hook = open(keep_all_of("relu"));
  const std::vector<float> first = {1};
  const std::vector<float> second = {2};
  for (const auto& [value, mean] : {std::pair(&first, 1.0), std::pair(&second, 2.0)}) {
    const SavedReduction reduction{Reduction::kMean, false, mean};
    hook->save_reductions("relu", {&reduction, 1});
    hook->save_tensor("relu", view_of(*value));
  }
  hook->end_step();
  ASSERT_TRUE(hook->close().ok());
  const ReadStep step = read().steps.at(0);
  EXPECT_EQ(floats_of(step.values.at("relu")), first);
  EXPECT_EQ(floats_of(step.values.at("relu#1")), second);
  EXPECT_EQ(step.reductions.at("relu").at(0).value, 1);
  EXPECT_EQ(step.reductions.at("relu#1").at(0).value, 2);
}

TEST_F(HookReductions, SingleReductionsThatCannotBeKeptAreCounted) {
  const auto hook = open(keep_all_of("relu"));
  const std::vector<SavedReduction> reductions = {{Reduction::kMean, true, 0.5}};
  hook->save_reductions(TensorId{77}, reductions);
  ASSERT_TRUE(hook->close().ok());
  hook->save_reductions("relu", reductions);
  EXPECT_EQ(lost(hook->report(), LossCause::kUnsupported), 1u);
  EXPECT_EQ(lost(hook->report(), LossCause::kHookOff), 1u);
}

}  // namespace
}  // namespace trainwarden::capture
