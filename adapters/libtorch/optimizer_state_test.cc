// Optimizer state by name, and equal to what the optimizer holds.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <string>
#include <vector>

#include "captured_run.h"
#include "trainwarden/torch.h"

namespace trainwarden::torch {
namespace {

namespace optim = ::torch::optim;
using Names = std::vector<std::string>;

// A layer with one parameter, so that an optimizer has one state.
class OptimizerStateTest : public ::testing::Test {
 protected:
  void train(optim::Optimizer& optimizer) {
    auto watcher = watch(run_.hook(), *layer_, {.activations = false});
    watcher.watch_optimizer(optimizer);
    for (int step = 0; step < 2; ++step) {
      layer_(::torch::rand({5, 3})).square().sum().backward();
      optimizer.step();
      watcher.end_step();
    }
  }

  template <class State>
  static const State& only_state(const optim::Optimizer& optimizer) {
    return static_cast<const State&>(*optimizer.state().begin()->second);
  }

  Names names() { return run_.names({.collection = "optimizer_state"}); }
  at::Tensor last(const std::string& field) { return run_.value("optimizer_state/weight/" + field, 1); }

  CapturedRun run_;
  ::torch::nn::Linear layer_{::torch::nn::LinearOptions(3, 2).bias(false)};
};

TEST_F(OptimizerStateTest, Sgd) {
  optim::SGD optimizer(layer_->parameters(), optim::SGDOptions(0.1).momentum(0.9));
  train(optimizer);
  EXPECT_EQ(names(), Names{"optimizer_state/weight/momentum_buffer"});
  EXPECT_TRUE(are_equal(last("momentum_buffer"), only_state<optim::SGDParamState>(optimizer).momentum_buffer()));
}

TEST_F(OptimizerStateTest, SgdWithoutMomentumHasNone) {
  optim::SGD optimizer(layer_->parameters(), 0.1);
  train(optimizer);
  EXPECT_EQ(names(), Names{});
}

TEST_F(OptimizerStateTest, Adam) {
  optim::Adam optimizer(layer_->parameters(), 0.1);
  train(optimizer);
  const auto& state = only_state<optim::AdamParamState>(optimizer);
  EXPECT_EQ(names(), (Names{"optimizer_state/weight/exp_avg", "optimizer_state/weight/exp_avg_sq",
                            "optimizer_state/weight/step"}));
  EXPECT_TRUE(are_equal(last("exp_avg"), state.exp_avg()));
  EXPECT_TRUE(are_equal(last("exp_avg_sq"), state.exp_avg_sq()));
  EXPECT_TRUE(are_equal(last("step"), ::torch::tensor(2, at::kLong)));
}

TEST_F(OptimizerStateTest, AdamW) {
  optim::AdamW optimizer(layer_->parameters(), optim::AdamWOptions(0.1).amsgrad(true));
  train(optimizer);
  const auto& state = only_state<optim::AdamWParamState>(optimizer);
  EXPECT_EQ(names().size(), 4u);
  EXPECT_TRUE(are_equal(last("exp_avg"), state.exp_avg()));
  EXPECT_TRUE(are_equal(last("max_exp_avg_sq"), state.max_exp_avg_sq()));
}

TEST_F(OptimizerStateTest, RmsProp) {
  optim::RMSprop optimizer(layer_->parameters(), optim::RMSpropOptions(0.1).momentum(0.9).centered(true));
  train(optimizer);
  const auto& state = only_state<optim::RMSpropParamState>(optimizer);
  EXPECT_EQ(names().size(), 4u);
  EXPECT_TRUE(are_equal(last("square_avg"), state.square_avg()));
  EXPECT_TRUE(are_equal(last("momentum_buffer"), state.momentum_buffer()));
  EXPECT_TRUE(are_equal(last("grad_avg"), state.grad_avg()));
}

TEST_F(OptimizerStateTest, Adagrad) {
  optim::Adagrad optimizer(layer_->parameters(), 0.1);
  train(optimizer);
  EXPECT_EQ(names(), (Names{"optimizer_state/weight/step", "optimizer_state/weight/sum"}));
  EXPECT_TRUE(are_equal(last("sum"), only_state<optim::AdagradParamState>(optimizer).sum()));
}

TEST_F(OptimizerStateTest, AnUnknownOptimizerIsReportedAndTrainingGoesOn) {
  struct Plain : optim::Optimizer {
    explicit Plain(std::vector<at::Tensor> parameters)
        : Optimizer(std::move(parameters), std::make_unique<optim::SGDOptions>(0.1)) {}
    at::Tensor step(LossClosure) override { return {}; }
  };
  Plain optimizer(layer_->parameters());
  const std::uint64_t before = failures();
  train(optimizer);
  EXPECT_EQ(failures(), before + 1);
  EXPECT_TRUE(run_.has("weight"));
}

}  // namespace
}  // namespace trainwarden::torch
