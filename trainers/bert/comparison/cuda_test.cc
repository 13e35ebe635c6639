// On a CUDA device: the same numbers as on the CPU, and steps that repeat. Skipped without one.
#include <cmath>

#include <ATen/Functions.h>
#include <gtest/gtest.h>
#include <torch/cuda.h>
#include <torch/types.h>

#include "model/heads.h"
#include "training/adam.h"
#include "training/autocast.h"
#include "training/determinism.h"
#include "training/gradients.h"
#include "training/lamb.h"
#include "training/loss_scaler.h"

namespace bert {
namespace {

constexpr std::int64_t kWords = 500, kItems = 6, kLength = 96;

ModelConfig small_config(double dropout) {
  ModelConfig config;
  config.vocab_size = kWords;
  config.hidden_size = 128;
  config.num_hidden_layers = 3;
  config.num_attention_heads = 4;
  config.intermediate_size = 256;
  config.max_position_embeddings = kLength;
  config.hidden_dropout_prob = config.attention_probs_dropout_prob = dropout;
  return config;
}

BertForSpans small_model(const at::Device& device, double dropout = 0) {
  seed_all(3);
  BertForSpans model(small_config(dropout));
  const at::NoGradGuard no_grad;
  for (auto& parameter : model->parameters()) parameter.add_(at::randn(parameter.sizes()), 0.05);
  model->to(device);
  return model;
}

struct Questions {
  Inputs inputs;
  at::Tensor starts, ends;
};

// Of all lengths, one without a token that is attended to.
Questions questions(const at::Device& device) {
  seed_all(4);
  const at::Tensor lengths = at::tensor({kLength, 1L, 17L, 33L, 64L, 0L});
  const at::Tensor ids = at::randint(0, kWords, {kItems, kLength}, at::kLong);
  const at::Tensor mask = at::arange(kLength).unsqueeze(0).lt(lengths.unsqueeze(1)).to(at::kLong);
  const at::Tensor types = at::randint(0, 2, {kItems, kLength}, at::kLong);
  const at::Tensor starts = at::zeros({kItems}, at::kLong), ends = (lengths - 1).clamp_min(0);
  return {{ids.to(device), mask.to(device), types.to(device)}, starts.to(device), ends.to(device)};
}

at::Tensor loss_of(BertForSpans& model, const Questions& asked, at::ScalarType precision = at::kFloat,
                   bool skip_padding = true) {
  const AutocastScope autocast(asked.starts.device().type(), precision);
  const at::Tensor logits = model->forward(asked.inputs, {.skip_padding = skip_padding}).to(at::kFloat);
  return at::cross_entropy_loss(logits.select(2, 0), asked.starts) +
         at::cross_entropy_loss(logits.select(2, 1), asked.ends);
}

NamedTensors parameters_of(const torch::nn::Module& module) {
  NamedTensors named;
  for (const auto& parameter : module.named_parameters()) named.emplace_back(parameter.key(), parameter.value());
  return named;
}

std::vector<at::Tensor> on_cpu(const NamedTensors& named, bool gradients) {
  std::vector<at::Tensor> copies;
  for (const auto& [name, tensor] : named) copies.push_back((gradients ? tensor.grad() : tensor).detach().cpu());
  return copies;
}

// The greatest difference, as a part of the greatest number.
double difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  double greatest = 0, distance = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    greatest = std::max(greatest, b[i].abs().max().item<double>());
    distance = std::max(distance, (a[i] - b[i]).abs().max().item<double>());
  }
  return distance / greatest;
}

class CudaTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!torch::cuda::is_available()) GTEST_SKIP() << "this LibTorch sees no CUDA device";
  }
  const at::Device gpu_{at::kCUDA, 0};
};

struct Learned {
  double loss = 0;
  std::vector<at::Tensor> gradients;
};

Learned learn(const at::Device& device, at::ScalarType precision, bool skip_padding) {
  BertForSpans model = small_model(device);
  const at::Tensor loss = loss_of(model, questions(device), precision, skip_padding);
  loss.backward();
  return {loss.item<double>(), on_cpu(parameters_of(*model), /*gradients=*/true)};
}

TEST_F(CudaTest, LossAndGradientsAreThoseOfTheCpu) {
  for (const bool skip_padding : {true, false}) {
    const Learned expected = learn(at::kCPU, at::kFloat, skip_padding);
    const Learned found = learn(gpu_, at::kFloat, skip_padding);
    EXPECT_NEAR(found.loss, expected.loss, 1e-5 * expected.loss) << skip_padding;
    EXPECT_LT(difference(found.gradients, expected.gradients), 1e-4) << skip_padding;
  }
}

TEST_F(CudaTest, HalfPrecisionIsNear) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const bool skip_padding : {true, false}) {
      const Learned expected = learn(at::kCPU, at::kFloat, skip_padding);
      const Learned found = learn(gpu_, type, skip_padding);
      EXPECT_NEAR(found.loss, expected.loss, 0.02 * expected.loss) << type << skip_padding;
      EXPECT_LT(difference(found.gradients, expected.gradients), 0.1) << type << skip_padding;
    }
  }
}

TEST_F(CudaTest, DropoutDropsAndRepeats) {
  BertForSpans model = small_model(gpu_, 0.1);
  model->train();
  const Questions asked = questions(gpu_);
  const auto loss = [&](std::uint64_t seed, at::ScalarType type) {
    seed_step(seed, 1, 0);
    return loss_of(model, asked, type).item<double>();
  };
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    EXPECT_EQ(loss(1, type), loss(1, type));
    EXPECT_NE(loss(1, type), loss(2, type));
  }
}

template <typename Made>
std::vector<at::Tensor> after_steps(const at::Device& device, const Made& make_optimizer) {
  BertForSpans model = small_model(device);
  const NamedTensors parameters = parameters_of(*model);
  auto optimizer = make_optimizer(parameters);
  for (int step = 0; step < 10; ++step) {
    seed_all(100 + static_cast<std::uint64_t>(step));
    for (const auto& [name, parameter] : parameters) parameter.mutable_grad() = at::randn(parameter.sizes()).to(device);
    optimizer.step(1e-3, step % 2 == 0 ? 1.0 : 0.25);
  }
  return on_cpu(parameters, /*gradients=*/false);
}

TEST_F(CudaTest, OptimizersAreThoseOfTheCpu) {
  for (const bool decoupled : {true, false}) {
    for (const bool corrected : {true, false}) {
      const auto adam = [&](const NamedTensors& parameters) {
        AdamOptions options{.weight_decay = 0.1, .decoupled_decay = decoupled, .bias_correction = corrected};
        options.no_decay = bert_exclusions();
        return Adam(parameters, options);
      };
      EXPECT_LT(difference(after_steps(gpu_, adam), after_steps(at::kCPU, adam)), 1e-5) << decoupled << corrected;
    }
  }
  const auto lamb = [](const NamedTensors& parameters) { return Lamb(parameters, {}); };
  EXPECT_LT(difference(after_steps(gpu_, lamb), after_steps(at::kCPU, lamb)), 1e-5);
}

// The model as it is after steps of a whole training: all of its parameters moved, and as on the CPU.
std::vector<at::Tensor> trained(const at::Device& device) {
  BertForSpans model = small_model(device);
  const NamedTensors parameters = parameters_of(*model);
  const Questions asked = questions(device);
  Adam adam(parameters, {.epsilon = 1e-4});  // large, or noise in gradients that are 0 would decide
  for (int step = 0; step < 8; ++step) {
    adam.zero_grad();
    loss_of(model, asked).backward();
    adam.step(1e-3, clipping(gradient_norm(parameters), 1).factor);
  }
  return on_cpu(parameters, /*gradients=*/false);
}

TEST_F(CudaTest, ATrainingIsThatOfTheCpu) {
  const std::vector<at::Tensor> expected = trained(at::kCPU), found = trained(gpu_);
  BertForSpans untrained = small_model(at::kCPU);
  const NamedTensors before = parameters_of(*untrained);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const at::Tensor start = before[i].second.detach();
    const double moved = (expected[i] - start).abs().max().item<double>();
    // Softmax takes no notice of what all keys share: the gradient of their bias is 0 but for rounding.
    const bool may_rest = before[i].first.find("key.bias") != std::string::npos;
    EXPECT_TRUE(may_rest || moved > 0) << before[i].first;
    EXPECT_LT((found[i] - expected[i]).abs().max().item<double>(), 0.02 * moved + 1e-6) << before[i].first;
  }
}

TEST_F(CudaTest, AStepLeavesGradientsAsTheyAre) {
  const at::Tensor weight = at::ones({5}, gpu_).requires_grad_(true);
  weight.mutable_grad() = at::full({5}, 3.0, gpu_);
  Adam adam({{"w", weight}}, {});
  adam.step(1e-3, 0.5);
  EXPECT_TRUE(weight.grad().eq(3).all().item<bool>());
}

// The loss that a training in float16 ends with.
TEST_F(CudaTest, Float16LearnsWithAScaledLoss) {
  BertForSpans model = small_model(gpu_);
  const NamedTensors parameters = parameters_of(*model);
  const Questions asked = questions(gpu_);
  Adam adam(parameters, {});
  LossScaler scaler;
  const double before = loss_of(model, asked, at::kHalf).item<double>();
  for (int step = 0; step < 60; ++step) {
    adam.zero_grad();
    scaler.scaled(loss_of(model, asked, at::kHalf)).backward();
    const double norm = gradient_norm(parameters) * scaler.factor();
    const Clipping clip = clipping(norm, 1);
    if (clip.finite) adam.step(1e-3, clip.factor * scaler.factor());
    scaler.update(clip.finite);
  }
  EXPECT_LT(loss_of(model, asked).item<double>(), before / 2);
}

// Last: it changes what all that follows in this process computes with.
TEST_F(CudaTest, ZDeterministicStepsRepeatBitForBit) {
  be_deterministic(1);
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
    const auto once = [&] {
      BertForSpans model = small_model(gpu_, 0.1);
      model->train();
      const NamedTensors parameters = parameters_of(*model);
      const Questions asked = questions(gpu_);
      Adam adam(parameters, {});
      for (std::int64_t step = 0; step < 5; ++step) {
        seed_step(1, step, 0);
        adam.zero_grad();
        loss_of(model, asked, type).backward();
        adam.step(1e-3);
      }
      return on_cpu(parameters, /*gradients=*/false);
    };
    EXPECT_EQ(difference(once(), once()), 0) << type;
  }
}

}  // namespace
}  // namespace bert
