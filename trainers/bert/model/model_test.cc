// Tests of the models: fused blocks against plain ones, dropout, padding, and inputs that do not fit.
#include "model/heads.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/types.h>
#include <torch/utils.h>

namespace bert {
namespace {

// Sizes that fill no vector, and two blocks of rows.
ModelConfig small_config() {
  ModelConfig config;
  config.vocab_size = 50;
  config.hidden_size = 36;
  config.num_hidden_layers = 2;
  config.num_attention_heads = 3;
  config.intermediate_size = 70;
  config.max_position_embeddings = 64;
  return config;
}

// Weights as large as those of a trained model, biases and norms too.
void randomise(torch::nn::Module& module) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : module.parameters()) parameter.add_(torch::randn_like(parameter), 0.1);
}

Inputs padded_inputs() {
  Inputs inputs;
  inputs.ids = torch::randint(0, 50, {3, 60}, torch::kLong);
  inputs.attention_mask = torch::arange(60).unsqueeze(0).lt(torch::tensor({60, 17, 33}).unsqueeze(1));
  inputs.attention_mask[2][5] = false;
  inputs.token_types = torch::randint(0, 2, {3, 60}, torch::kLong);
  return inputs;
}

double distance(const at::Tensor& a, const at::Tensor& b) {
  return (a - b).abs().max().item<double>();
}

std::vector<at::Tensor> gradients_of(torch::nn::Module& module, const at::Tensor& out, const at::Tensor& gradient) {
  module.zero_grad();
  out.backward(gradient);
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : module.parameters()) gradients.push_back(parameter.grad().clone());
  return gradients;
}

class ModelTest : public testing::Test {
 protected:
  void SetUp() override {
    torch::manual_seed(5);
    randomise(*model_);
    model_->eval();
  }
  const ModelConfig config_ = small_config();
  BertModel model_{config_, false};
};

TEST_F(ModelTest, FusedBlocksAreThePlainOnes) {
  const Inputs inputs = padded_inputs();
  const at::Tensor gradient = torch::randn({3, 60, 36});
  Seen seen;
  const at::Tensor plain = model_->forward(inputs, {.seen = &seen});
  const auto of_plain = gradients_of(*model_, plain, gradient);
  const at::Tensor fused = model_->forward(inputs);
  const auto of_fused = gradients_of(*model_, fused, gradient);
  EXPECT_LT(distance(fused, plain), 1e-5);
  for (std::size_t i = 0; i < of_plain.size(); ++i) {
    EXPECT_LT(distance(of_fused[i], of_plain[i]), 1e-5 * std::max(1.0, of_plain[i].abs().max().item<double>())) << i;
  }
  ASSERT_EQ(seen.hidden.size(), 3u);
  ASSERT_EQ(seen.attention.size(), 2u);
  EXPECT_LT(distance(seen.attention[1].probabilities.sum(-1), torch::ones({3, 3, 60})), 1e-5);
  const torch::NoGradGuard no_grad;
  EXPECT_LT(distance(model_->forward(inputs), plain), 1e-5);
}

// A step along the gradient changes the result as the gradient says: with the same seed, dropout drops the same.
TEST_F(ModelTest, GradientsUnderDropoutAgreeWithDifferences) {
  model_->train();
  const Inputs inputs = padded_inputs();
  const at::Tensor gradient = torch::randn({3, 60, 36});
  const auto run = [&] {
    torch::manual_seed(9);
    return (model_->forward(inputs) * gradient).sum();
  };
  model_->zero_grad();
  run().backward();
  double expected = 0;
  std::vector<at::Tensor> steps;
  for (const auto& parameter : model_->parameters()) {
    steps.push_back(parameter.grad() / parameter.grad().norm().clamp_min(1e-6) * 1e-3);
    expected += (steps.back() * parameter.grad()).sum().item<double>();
  }
  const auto value_at = [&](double factor) {
    const torch::NoGradGuard no_grad;
    const auto parameters = model_->parameters();
    for (std::size_t i = 0; i < steps.size(); ++i) parameters[i].data().add_(steps[i], factor);
    const double value = run().to(torch::kDouble).item<double>();
    for (std::size_t i = 0; i < steps.size(); ++i) parameters[i].data().sub_(steps[i], factor);
    return value;
  };
  const double found = (value_at(1) - value_at(-1)) / 2;
  EXPECT_NEAR(found, expected, 0.02 * std::abs(expected));
}

TEST_F(ModelTest, TheSameSeedGivesTheSameBits) {
  model_->train();
  const Inputs inputs = padded_inputs();
  const auto run = [&](std::uint64_t seed) {
    torch::manual_seed(seed);
    const at::Tensor out = model_->forward(inputs);
    return std::pair(out, gradients_of(*model_, out, torch::ones_like(out)));
  };
  const auto [first, first_gradients] = run(1);
  const auto [second, second_gradients] = run(1);
  EXPECT_TRUE(torch::equal(first, second));
  for (std::size_t i = 0; i < first_gradients.size(); ++i) {
    EXPECT_TRUE(torch::equal(first_gradients[i], second_gradients[i])) << i;
  }
  EXPECT_FALSE(torch::equal(first, run(2).first));
}

TEST_F(ModelTest, SkippedPaddingLeavesTheOthersAsTheyWere) {
  const Inputs inputs = padded_inputs();
  const at::Tensor all = model_->forward(inputs);
  const at::Tensor skipped = model_->forward(inputs, {.skip_padding = true});
  const at::Tensor attended = inputs.attention_mask.unsqueeze(2);
  EXPECT_LT(distance(skipped, all * attended), 1e-5);
  EXPECT_EQ(skipped.masked_select(~attended).abs().max().item<float>(), 0);
}

TEST_F(ModelTest, AnItemWithoutAttendedTokensGivesNumbers) {
  Inputs inputs = padded_inputs();
  inputs.attention_mask[1].fill_(false);
  for (const bool skip : {false, true}) {
    EXPECT_TRUE(model_->forward(inputs, {.skip_padding = skip}).isfinite().all().item<bool>());
  }
  Seen seen;
  EXPECT_LT(distance(model_->forward(inputs)[1], model_->forward(inputs, {.seen = &seen})[1]), 1e-5);
}

TEST_F(ModelTest, FrozenParametersGetNoGradient) {
  const Inputs inputs = padded_inputs();
  const at::Tensor gradient = torch::ones({3, 60, 36});
  const auto all = gradients_of(*model_, model_->forward(inputs), gradient);
  model_->zero_grad();
  for (auto& parameter : model_->parameters()) parameter.mutable_grad() = at::Tensor();
  for (auto& parameter : model_->embeddings->parameters()) parameter.requires_grad_(false);
  for (auto& parameter : model_->encoder->at(0).parameters()) parameter.requires_grad_(false);
  model_->forward(inputs).backward(gradient);
  const auto named = model_->named_parameters();
  std::size_t i = 0;
  for (const auto& parameter : named) {
    const bool frozen = parameter.key().starts_with("embeddings") || parameter.key().starts_with("encoder.layer.0");
    EXPECT_EQ(parameter.value().grad().defined(), !frozen) << parameter.key();
    if (!frozen) {
      EXPECT_TRUE(torch::equal(parameter.value().grad(), all[i])) << parameter.key();
    }
    ++i;
  }
}

TEST_F(ModelTest, OtherDtypesTakeThePlainPathAndComeBack) {
  const Inputs inputs = padded_inputs();
  const at::Tensor before = model_->forward(inputs);
  model_->to(torch::kDouble);
  EXPECT_LT(distance(model_->forward(inputs).to(torch::kFloat), before), 1e-5);
  model_->to(torch::kFloat);
  EXPECT_LT(distance(model_->forward(inputs), before), 1e-5);
  // A change of a part is a change of the whole.
  const torch::NoGradGuard no_grad;
  model_->encoder->at(0).attention->self->key->weight.mul_(3);
  EXPECT_GT(distance(model_->forward(inputs), before), 1e-3);
}

TEST_F(ModelTest, InputsThatDoNotFitAreTold) {
  const auto throws = [&](const Inputs& inputs) { EXPECT_THROW(model_->forward(inputs), std::runtime_error); };
  const Inputs sound = padded_inputs();
  Inputs inputs;
  throws(inputs);
  inputs.ids = torch::zeros({60}, torch::kLong);
  throws(inputs);
  inputs.ids = torch::zeros({3, 60});
  throws(inputs);
  inputs.ids = torch::zeros({1, 65}, torch::kLong);
  throws(inputs);
  for (const std::int64_t id : {-1, 50}) {
    inputs = sound;
    inputs.ids = torch::full({3, 60}, id, torch::kLong);
    throws(inputs);
  }
  inputs = sound;
  inputs.attention_mask = torch::ones({3, 59}, torch::kLong);
  throws(inputs);
  inputs = sound;
  inputs.token_types = torch::full({3, 60}, 2, torch::kLong);
  throws(inputs);
}

TEST(HeadsTest, ShapesAndNames) {
  ModelConfig config = small_config();
  config.labels = {"a", "b", "c"};
  const Inputs inputs = padded_inputs();
  for (const ModelType type : {ModelType::kBert, ModelType::kDistilBert}) {
    config.type = type;
    config.type_vocab_size = type == ModelType::kBert ? 2 : 0;
    EXPECT_EQ(BertForSpans(config)->forward(inputs).sizes(), at::IntArrayRef({3, 60, 2}));
    EXPECT_EQ(BertForClassification(config)->forward(inputs).sizes(), at::IntArrayRef({3, 3}));
    BertForMaskedWords words(config);
    words->eval();
    const at::Tensor all = words->forward(inputs);
    EXPECT_EQ(all.sizes(), at::IntArrayRef({3, 60, 50}));
    const at::Tensor asked = torch::tensor({7, 100}, torch::kLong);
    EXPECT_LT(distance(words->forward(inputs, {}, asked), all.flatten(0, 1).index_select(0, asked)), 1e-6);
  }
  EXPECT_TRUE(
      BertForSpans(small_config())->named_parameters().contains("bert.encoder.layer.1.attention.self.query.weight"));
}

TEST(HeadsTest, SkippedPaddingIsOutOfASoftmax) {
  BertForSpans spans(small_config());
  const Inputs inputs = padded_inputs();
  const at::Tensor logits = spans->forward(inputs, {.skip_padding = true});
  const at::Tensor padding = ~inputs.attention_mask.unsqueeze(2);
  EXPECT_EQ(torch::softmax(logits, 1).masked_select(padding).max().item<float>(), 0);
}

}  // namespace
}  // namespace bert
