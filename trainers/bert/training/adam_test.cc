// Adam and AdamW against torch.optim's, and what a checkpoint keeps of them.
#include "training/adam.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

#include "training/determinism.h"

namespace bert {
namespace {

// Of sizes that are no multiples of any register or piece: 3 × 16384 + 7 numbers in the largest.
NamedTensors parameters_of_seed(std::uint64_t seed) {
  seed_all(seed);
  NamedTensors parameters{
      {"dense.weight", at::randn({7, 7023})}, {"dense.bias", at::randn({33})}, {"scale", at::randn({1})}};
  for (auto& [name, parameter] : parameters) parameter.requires_grad_(true);
  return parameters;
}

std::vector<at::Tensor> tensors_of(const NamedTensors& named) {
  std::vector<at::Tensor> tensors;
  for (const auto& [name, tensor] : named) tensors.push_back(tensor);
  return tensors;
}

void set_gradients(const NamedTensors& parameters, std::int64_t step) {
  seed_all(1000 + static_cast<std::uint64_t>(step));
  for (const auto& [name, parameter] : parameters) parameter.mutable_grad() = at::randn(parameter.sizes());
}

double relative_difference(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).abs().max() / b.abs().max()).item<double>();
}

// 100 steps beside one of LibTorch's optimizers, with a learning rate that changes.
template <typename Rival>
void expect_as_rival(Optimizer& ours, const NamedTensors& parameters, Rival& rival, const NamedTensors& rivals) {
  for (std::int64_t step = 0; step < 100; ++step) {
    const double learning_rate = 1e-3 * (1 + static_cast<double>(step % 7));
    set_gradients(parameters, step);
    set_gradients(rivals, step);
    ours.step(learning_rate);
    rival.param_groups()[0].options().set_lr(learning_rate);
    rival.step();
  }
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    EXPECT_LT(relative_difference(parameters[i].second.detach(), rivals[i].second.detach()), 2e-6)
        << parameters[i].first;
  }
}

class AdamTest : public testing::TestWithParam<StepLoops> {};

TEST_P(AdamTest, AdamWIsThatOfTorch) {
  const NamedTensors parameters = parameters_of_seed(1);
  const NamedTensors rivals = parameters_of_seed(1);
  Adam ours(parameters, {.weight_decay = 0.1, .loops = GetParam()});
  torch::optim::AdamW rival(tensors_of(rivals), torch::optim::AdamWOptions(1e-3).weight_decay(0.1));
  expect_as_rival(ours, parameters, rival, rivals);
}

TEST_P(AdamTest, AdamIsThatOfTorch) {
  const NamedTensors parameters = parameters_of_seed(2);
  const NamedTensors rivals = parameters_of_seed(2);
  Adam ours(parameters, {.weight_decay = 0.1, .decoupled_decay = false, .loops = GetParam()});
  torch::optim::Adam rival(tensors_of(rivals), torch::optim::AdamOptions(1e-3).weight_decay(0.1));
  expect_as_rival(ours, parameters, rival, rivals);
}

// m = 0.1 g, v = 0.001 g², so the first step moves by lr · 0.1 / sqrt(0.001) whatever the gradient's size.
TEST_P(AdamTest, WithoutCorrectionTheFirstStepIsThatOfBert) {
  at::Tensor weight = at::full({5}, 2.0).requires_grad_(true);
  at::Tensor bias = at::full({5}, 2.0).requires_grad_(true);
  AdamOptions options{.epsilon = 1e-12, .weight_decay = 0.01, .bias_correction = false, .loops = GetParam()};
  options.no_decay = bert_exclusions();
  Adam adam({{"w", weight}, {"b.bias", bias}}, options);
  for (at::Tensor* parameter : {&weight, &bias}) parameter->mutable_grad() = at::full({5}, 3.0);
  adam.step(1e-2);
  const double moved = 1e-2 * 0.1 / std::sqrt(0.001);
  EXPECT_NEAR(bias[0].item<double>(), 2 - moved, 1e-6);
  EXPECT_NEAR(weight[0].item<double>(), 2 - moved - 1e-2 * 0.01 * 2, 1e-6);
}

TEST_P(AdamTest, AFactorCountsAsScaledGradients) {
  const NamedTensors parameters = parameters_of_seed(3);
  const NamedTensors scaled = parameters_of_seed(3);
  Adam first(parameters, {.epsilon = 1e-2, .loops = GetParam()});
  Adam second(scaled, {.epsilon = 1e-2, .loops = GetParam()});
  set_gradients(parameters, 0);
  set_gradients(scaled, 0);
  for (const auto& [name, parameter] : scaled) parameter.mutable_grad().mul_(0.25);
  first.step(1e-2, 0.25);
  second.step(1e-2);
  for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_TRUE(at::equal(parameters[i].second, scaled[i].second));
}

TEST_P(AdamTest, HalfParametersHaveMastersThatSmallStepsMove) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    at::Tensor parameter = at::ones({20000}, at::TensorOptions().dtype(type)).requires_grad_(true);
    Adam adam({{"w", parameter}}, {.weight_decay = 0, .loops = GetParam()});
    for (int step = 0; step < 100; ++step) {
      parameter.mutable_grad() = at::ones({20000}, at::TensorOptions().dtype(type));
      adam.step(1e-4);
    }
    // A step of 1e-4 alone is less than half of what either type can tell from 1.
    EXPECT_NEAR(parameter.to(at::kFloat).min().item<double>(), 0.99, 0.004) << type;
    EXPECT_NEAR(adam.slots()[0].master[19999].item<double>(), 0.99, 1e-4);
  }
}

TEST_P(AdamTest, GoesOnFromItsStateBitForBit) {
  const NamedTensors parameters = parameters_of_seed(4);
  Adam whole(parameters, {.loops = GetParam()});
  for (int step = 0; step < 3; ++step) {
    set_gradients(parameters, step);
    whole.step(1e-3);
  }
  NamedTensors copies, state;
  for (const auto& [name, parameter] : parameters)
    copies.emplace_back(name, parameter.detach().clone().requires_grad_(true));
  for (const auto& [name, tensor] : whole.state()) state.emplace_back(name, tensor.clone());
  Adam resumed(copies, {.loops = GetParam()});
  resumed.load_state(state);
  set_gradients(parameters, 3);
  set_gradients(copies, 3);
  whole.step(1e-3);
  resumed.step(1e-3);
  for (std::size_t i = 0; i < parameters.size(); ++i) EXPECT_TRUE(at::equal(parameters[i].second, copies[i].second));
}

INSTANTIATE_TEST_SUITE_P(Loops, AdamTest, testing::Values(StepLoops::kFused, StepLoops::kForeach),
                         [](const auto& each) { return each.param == StepLoops::kFused ? "Fused" : "Foreach"; });

TEST(AdamStateTest, RefusesAnotherModelsStateAndKeepsItsOwn) {
  const NamedTensors parameters = parameters_of_seed(5);
  Adam adam(parameters, {});
  NamedTensors state;
  for (const auto& [name, tensor] : adam.state()) state.emplace_back(name, at::ones_like(tensor));
  state.back().first = "step.other";
  try {
    adam.load_state(state);
    FAIL() << "another model's state was taken";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("missing: step.scale; unexpected: step.other"), std::string::npos)
        << error.what();
  }
  EXPECT_EQ(adam.slots()[0].average.abs().sum().item<double>(), 0);
}

TEST(AdamStateTest, ParametersWithoutGradientStayAndCountNoStep) {
  at::Tensor used = at::ones({3}).requires_grad_(true);
  at::Tensor unused = at::ones({3}).requires_grad_(true);
  Adam adam({{"used", used}, {"unused", unused}}, {});
  used.mutable_grad() = at::ones({3});
  adam.step(0.1);
  EXPECT_TRUE(at::equal(unused, at::ones({3})));
  EXPECT_EQ(adam.slots()[1].steps, 0);
  EXPECT_EQ(adam.slots()[0].steps, 1);
  adam.zero_grad();
  EXPECT_FALSE(used.grad().defined());
}

TEST(AdamStateTest, SaysWhatCannotBe) {
  const at::Tensor parameter = at::ones({3}).requires_grad_(true);
  EXPECT_THROW(Adam({{"a", parameter}, {"a", parameter}}, {}), std::runtime_error);
  EXPECT_THROW(Adam({{"a", at::ones({3}, at::kDouble)}}, {}), std::runtime_error);
  EXPECT_THROW(Adam({{"a", at::ones({3, 2}).t()}}, {}), std::runtime_error);
  EXPECT_THROW(Adam({{"a", parameter}}, {.beta1 = 1}), std::runtime_error);
  Adam adam({{"a", parameter}}, {});
  EXPECT_THROW(adam.step(std::nan("")), std::runtime_error);
  EXPECT_THROW(adam.step(1, INFINITY), std::runtime_error);
}

TEST(Adam, AParameterOfAnotherStorageIsTold) {
  const at::Tensor weight = at::ones({5}).requires_grad_(true);
  Adam adam({{"w", weight}}, {});
  weight.mutable_grad() = at::ones({5});
  adam.step(1e-3);
  weight.set_data(weight.detach().clone());
  try {
    adam.step(1e-3);
    FAIL() << "expected an error";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("Parameter w: it was given another storage"), std::string::npos);
  }
}

}  // namespace
}  // namespace bert
