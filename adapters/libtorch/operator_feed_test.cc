// The operators of a small model's steps, as they come into the run.
#include <torch/torch.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "captured_run.h"
#include "operator_feed.h"
#include "trainwarden/torch.h"

namespace trainwarden::torch {
namespace {

HookOptions recorded_steps(std::int64_t first, std::int64_t steps) {
  HookOptions options;
  options.operators = {.first_step = first, .steps = steps};
  return options;
}

// A layer, its loss, and an optimizer.
class SmallTraining {
 public:
  explicit SmallTraining(Hook& hook) : watcher_(watch(hook, *model_)) {}
  void step() {
    optimizer_.zero_grad();
    ::torch::mse_loss(model_->forward(input_), target_).backward();
    optimizer_.step();
    watcher_.end_step();
  }
  Watcher& watcher() { return watcher_; }

 private:
  ::torch::nn::Linear model_{4, 2};
  ::torch::optim::SGD optimizer_{model_->parameters(), 0.1};
  const at::Tensor input_ = ::torch::ones({3, 4});
  const at::Tensor target_ = ::torch::zeros({3, 2});
  Watcher watcher_;
};

const OperatorCall* call_named(const OperatorBatch& batch, std::string_view name) {
  const auto found = std::find_if(batch.calls.begin(), batch.calls.end(),
                                  [&](const OperatorCall& call) { return batch.names[call.name] == name; });
  return found == batch.calls.end() ? nullptr : &*found;
}

bool holds(const OperatorCall& outer, const OperatorCall& inner) {
  return outer.track == inner.track && outer.start_unix_ns <= inner.start_unix_ns &&
         inner.start_unix_ns + inner.duration_ns <= outer.start_unix_ns + outer.duration_ns;
}

TEST(OperatorFeed, RecordsTheOperatorsOfAStepWithTheirNesting) {
  CapturedRun run(recorded_steps(1, 1));
  SmallTraining training(run.hook());
  for (int step = 0; step < 3; ++step) training.step();
  ASSERT_EQ(run.operator_steps(), std::vector<std::int64_t>{1});
  const OperatorBatch batch = run.operators(1);
  EXPECT_EQ(batch.lost_calls, 0u);
  const OperatorCall* const inside = call_named(batch, "aten::mm");
  const OperatorCall* const product = call_named(batch, "aten::addmm");
  const OperatorCall* const backward = call_named(batch, "AddmmBackward0");
  ASSERT_NE(inside, nullptr);
  ASSERT_NE(product, nullptr);
  ASSERT_NE(backward, nullptr);
  EXPECT_EQ(product->kind, OperatorKind::kOperator);
  EXPECT_EQ(backward->kind, OperatorKind::kBackward);
  EXPECT_TRUE(holds(*backward, *inside));
  EXPECT_GT(product->duration_ns, 0);
  EXPECT_GE(product->sequence, 0);
  EXPECT_EQ(backward->sequence, product->sequence);
  EXPECT_GT(backward->start_unix_ns, product->start_unix_ns + product->duration_ns);
}

TEST(OperatorFeed, ListensInTheWindowAlone) {
  CapturedRun run(recorded_steps(1, 2));
  SmallTraining training(run.hook());
  EXPECT_FALSE(at::hasGlobalCallbacks());
  training.step();
  EXPECT_TRUE(at::hasGlobalCallbacks());
  training.step();
  EXPECT_TRUE(at::hasGlobalCallbacks());
  training.step();
  EXPECT_FALSE(at::hasGlobalCallbacks());
}

TEST(OperatorFeed, LeavesNothingBehindAModelThatGoesInTheWindow) {
  CapturedRun run(recorded_steps(0, 100));
  {
    SmallTraining training(run.hook());
    training.step();
    EXPECT_TRUE(at::hasGlobalCallbacks());
  }
  EXPECT_FALSE(at::hasGlobalCallbacks());
}

TEST(OperatorFeed, RecordsWhatTheProgramNamesItself) {
  CapturedRun run(recorded_steps(0, 1));
  SmallTraining training(run.hook());
  {
    RECORD_USER_SCOPE("my stretch");
    training.watcher();
    ::torch::ones({2}).add_(1);
  }
  training.step();
  const OperatorBatch batch = run.operators(0);
  const OperatorCall* const mine = call_named(batch, "my stretch");
  ASSERT_NE(mine, nullptr);
  EXPECT_EQ(mine->kind, OperatorKind::kUser);
  const OperatorCall* const inside = call_named(batch, "aten::add_");
  ASSERT_NE(inside, nullptr);
  EXPECT_TRUE(holds(*mine, *inside));
}

TEST(OperatorFeed, OtherThreadsHaveTracksOfTheirOwn) {
  CapturedRun run(recorded_steps(0, 1));
  SmallTraining training(run.hook());
  std::thread([] { ::torch::eye(2).inverse(); }).join();
  training.step();
  const OperatorBatch batch = run.operators(0);
  ASSERT_EQ(batch.tracks.size(), 2u);
  const OperatorCall* const elsewhere = call_named(batch, "aten::inverse");
  const OperatorCall* const here = call_named(batch, "aten::addmm");
  ASSERT_NE(elsewhere, nullptr);
  ASSERT_NE(here, nullptr);
  EXPECT_NE(elsewhere->track, here->track);
}

TEST(OperatorFeed, AHookThatIsClosedIsInNobodysWay) {
  auto other = Hook::open({.dry_run = true, .operators = {.first_step = 0, .steps = 100}});
  ASSERT_TRUE(other.ok());
  SmallTraining second(**other);
  ASSERT_TRUE((*other)->close().ok());
  CapturedRun run(recorded_steps(0, 2));
  SmallTraining training(run.hook());
  training.step();
  ASSERT_EQ(run.operator_steps(), std::vector<std::int64_t>{0});
  const OperatorBatch batch = run.operators(0);
  EXPECT_EQ(std::count_if(batch.calls.begin(), batch.calls.end(),
                          [&](const OperatorCall& call) { return batch.names[call.name] == "aten::addmm"; }),
            1)
      << "one callback for both";
}

TEST(OperatorFeed, TheSecondHookWaitsItsTurn) {
  CapturedRun run(recorded_steps(0, 2));
  SmallTraining training(run.hook());
  auto other = Hook::open({.dry_run = true, .operators = {.first_step = 0, .steps = 100}});
  ASSERT_TRUE(other.ok());
  SmallTraining second(**other);
  second.step();
  training.step();
  training.step();
  second.step();
  EXPECT_TRUE(at::hasGlobalCallbacks()) << "the first has given its place away";
  EXPECT_EQ(run.operator_steps(), (std::vector<std::int64_t>{0, 1}));
}

}  // namespace
}  // namespace trainwarden::torch
