// Inputs and outputs of layers, seen while the model runs.
#include <ATen/record_function.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <memory>
#include <string>
#include <vector>

#include "captured_run.h"
#include "trainwarden/torch.h"

namespace trainwarden::torch {
namespace {

namespace nn = ::torch::nn;
using Names = std::vector<std::string>;
const TensorQuery kActivations = {.include = {"_(input|output)_"}};

// Calls a layer that is the submodule `layer` of a model; gives what it gave.
template <class Holder>
at::Tensor call_watched(CapturedRun& run, Holder layer, const at::Tensor& input) {
  nn::Module model;
  model.register_module("layer", layer);
  auto watcher = watch(run.hook(), model);
  const at::Tensor output = layer(input);
  watcher.end_step();
  return output;
}

template <class Holder>
void check_layer(Holder layer, const at::Tensor& input) {
  CapturedRun run;
  const at::Tensor output = call_watched(run, layer, input);
  EXPECT_EQ(run.names(kActivations), (Names{"layer_input_0", "layer_output_0"}));
  EXPECT_TRUE(are_equal(run.value("layer_input_0"), input));
  EXPECT_TRUE(are_equal(run.value("layer_output_0"), output));
}

TEST(ActivationTap, Convolution) {
  check_layer(nn::Conv2d(1, 2, 3), ::torch::rand({2, 1, 5, 5}));
}
TEST(ActivationTap, ConvolutionWithSamePadding) {
  check_layer(nn::Conv1d(nn::Conv1dOptions(1, 2, 3).padding(::torch::kSame)), ::torch::rand({2, 1, 5}));
}
TEST(ActivationTap, TransposedConvolution) {
  check_layer(nn::ConvTranspose2d(1, 2, 3), ::torch::rand({2, 1, 5, 5}));
}
TEST(ActivationTap, Linear) {
  check_layer(nn::Linear(3, 2), ::torch::rand({5, 3}));
}
TEST(ActivationTap, LinearWithoutBias) {
  check_layer(nn::Linear(nn::LinearOptions(3, 2).bias(false)), ::torch::rand({5, 3}));
}
TEST(ActivationTap, LinearOnThreeDimensionsHasItsBias) {
  check_layer(nn::Linear(3, 2), ::torch::rand({4, 5, 3}));
}
TEST(ActivationTap, BatchNorm) {
  check_layer(nn::BatchNorm1d(3), ::torch::rand({5, 3}));
}
TEST(ActivationTap, BatchNormWithBuffersOnly) {
  check_layer(nn::BatchNorm1d(nn::BatchNorm1dOptions(3).affine(false)), ::torch::rand({5, 3}));
}
TEST(ActivationTap, LayerNorm) {
  check_layer(nn::LayerNorm(nn::LayerNormOptions({3})), ::torch::rand({5, 3}));
}
TEST(ActivationTap, GroupNorm) {
  check_layer(nn::GroupNorm(nn::GroupNormOptions(2, 4)), ::torch::rand({5, 4, 3}));
}
TEST(ActivationTap, Embedding) {
  check_layer(nn::Embedding(6, 3), ::torch::tensor({1, 5, 0}));
}
TEST(ActivationTap, PRelu) {
  check_layer(nn::PReLU(), ::torch::randn({5, 3}));
}

TEST(ActivationTap, RecurrentLayerHasSeveralOutputs) {
  CapturedRun run;
  nn::Module model;
  const auto lstm = model.register_module("lstm", nn::LSTM(3, 2));
  auto watcher = watch(run.hook(), model);
  const auto [output, state] = lstm->forward(::torch::rand({4, 1, 3}));
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("lstm_output_0"), output));
  EXPECT_TRUE(are_equal(run.value("lstm_output_1"), std::get<0>(state)));
  EXPECT_TRUE(are_equal(run.value("lstm_output_2"), std::get<1>(state)));
  EXPECT_FALSE(run.has("lstm_output_3"));
}

TEST(ActivationTap, UnderABudgetSoManyCallsOfALayerAreCapturedInAStep) {
  HookOptions options = CapturedRun::everything();
  options.budget = 0.9;
  CapturedRun run(options);
  nn::Module model;
  const auto cell = model.register_module("cell", nn::Linear(3, 3));
  auto watcher = watch(run.hook(), model);
  at::Tensor state = ::torch::rand({4, 3});
  for (int i = 0; i < 70; ++i) state = cell->forward(state);
  for (int i = 0; i < 70; ++i) watcher.loss("loss", state.sum());
  watcher.end_step();
  EXPECT_TRUE(run.has("cell_output_63"));
  EXPECT_FALSE(run.has("cell_output_64"));
  EXPECT_FALSE(run.has("cell_input_64"));
  EXPECT_TRUE(run.has("loss_output_69")) << "losses are not left out";
  EXPECT_TRUE(run.has("trainwarden/not_captured"));
}

struct TwoLayersImpl : nn::Module {
  TwoLayersImpl() {
    register_module("body", body);
    register_module("head", head);
  }
  at::Tensor forward(const at::Tensor& x) { return head(::torch::relu(body->forward(x))); }

  nn::Sequential body{nn::Linear(3, 4)};
  nn::Linear head{4, 2};
};
TORCH_MODULE(TwoLayers);

TEST(ActivationTap, PathsNameTheLayers) {
  CapturedRun run;
  TwoLayers model;
  auto watcher = watch(run.hook(), *model);
  model->forward(::torch::rand({5, 3}));
  watcher.end_step();
  EXPECT_EQ(run.names(kActivations), (Names{"body.0_input_0", "body.0_output_0", "head_input_0", "head_output_0"}));
  EXPECT_EQ(run.names({.collection = "outputs"}), (Names{"body.0_output_0", "head_output_0"}));
}

TEST(ActivationTap, TheWatchedModuleItselfIsNamedByItsClass) {
  CapturedRun run;
  nn::Linear layer(3, 2);
  auto watcher = watch(run.hook(), *layer);
  layer(::torch::rand({5, 3}));
  watcher.end_step();
  EXPECT_EQ(run.names(kActivations), (Names{"Linear_input_0", "Linear_output_0"}));
}

TEST(ActivationTap, TheIndexRunsOnWithinAStep) {
  CapturedRun run;
  TwoLayers model;
  auto watcher = watch(run.hook(), *model);
  const at::Tensor first = model->forward(::torch::rand({5, 3}));
  const at::Tensor second = model->forward(::torch::rand({5, 3}));
  watcher.end_step();
  const at::Tensor next = model->forward(::torch::rand({5, 3}));
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("head_output_0", 0), first));
  EXPECT_TRUE(are_equal(run.value("head_output_1", 0), second));
  EXPECT_TRUE(are_equal(run.value("head_output_0", 1), next));
  EXPECT_EQ(run.steps_of("head_output_1"), std::vector<std::int64_t>{0});
}

TEST(ActivationTap, TrainingStepsAreNoCalls) {
  CapturedRun run;
  TwoLayers model;
  ::torch::optim::SGD optimizer(model->parameters(), ::torch::optim::SGDOptions(0.1).weight_decay(0.1).momentum(0.9));
  auto watcher = watch(run.hook(), *model);
  at::Tensor penalty = ::torch::zeros({});
  for (const at::Tensor& parameter : model->parameters()) penalty += parameter.square().sum();
  (model->forward(::torch::rand({5, 3})).square().sum() + penalty).backward();
  optimizer.step();
  optimizer.zero_grad();
  watcher.end_step();
  EXPECT_EQ(run.names(kActivations), (Names{"body.0_input_0", "body.0_output_0", "head_input_0", "head_output_0"}));
}

TEST(ActivationTap, AnOutputIsTakenBeforeItIsOverwritten) {
  CapturedRun run;
  nn::Linear layer(3, 2);
  auto watcher = watch(run.hook(), *layer);
  const ::torch::NoGradGuard no_grad;
  const at::Tensor input = ::torch::rand({5, 3});
  const at::Tensor output = layer(input);
  output.zero_();
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("Linear_output_0"), layer(input)));
}

TEST(ActivationTap, ASharedWeightGoesByTheKindOfOperator) {
  CapturedRun run;
  nn::Module model;
  nn::Embedding embed(6, 3);
  nn::Linear head(nn::LinearOptions(3, 6).bias(false));
  model.register_module("embed", embed);
  model.register_module("head", head);
  head->weight.set_data(embed->weight);
  auto watcher = watch(run.hook(), model);
  const at::Tensor embedded = embed(::torch::tensor({1, 5, 0}));
  const at::Tensor scores = head(embedded);
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("embed_output_0"), embedded));
  EXPECT_TRUE(are_equal(run.value("head_output_0"), scores));
  EXPECT_FALSE(run.has("embed_output_1"));
}

TEST(ActivationTap, ParametersMayMove) {
  CapturedRun run;
  nn::Linear layer(3, 2);
  auto watcher = watch(run.hook(), *layer);
  watcher.end_step();
  layer->to(at::kDouble);
  watcher.end_step();
  const at::Tensor output = layer(::torch::rand({5, 3}, at::kDouble));
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("Linear_output_0", 2), output));
}

TEST(ActivationTap, IsOnOnlyInStepsThatWantIt) {
  HookOptions options;
  options.collections = {{.name = "head", .include = {"^head_output"}, .save = SavePolicy::every(2)}};
  CapturedRun run(options);
  TwoLayers model;
  auto watcher = watch(run.hook(), *model);
  for (int step = 0; step < 3; ++step) {
    EXPECT_EQ(at::hasThreadLocalCallbacks(), step % 2 == 0);
    model->forward(::torch::rand({5, 3}));
    watcher.end_step();
  }
  EXPECT_EQ(run.steps_of("head_output_0"), (std::vector<std::int64_t>{0, 2}));
  EXPECT_FALSE(run.has("head_input_0"));
}

TEST(ActivationTap, FollowsTheMode) {
  SavePolicy only_eval = SavePolicy::of({.end_step = 0});
  only_eval[Mode::kEval] = {.save_interval = 1};
  HookOptions options;
  options.collections = {{.name = "outputs", .save = only_eval}};
  CapturedRun run(options);
  TwoLayers model;
  auto watcher = watch(run.hook(), *model);
  watcher.set_mode(Mode::kTrain);
  EXPECT_FALSE(at::hasThreadLocalCallbacks());
  model->forward(::torch::rand({5, 3}));
  watcher.end_step();
  watcher.set_mode(Mode::kEval);
  const ::torch::NoGradGuard no_grad;
  const at::Tensor output = model->forward(::torch::rand({5, 3}));
  watcher.end_step();
  EXPECT_EQ(run.steps_of("head_output_0"), std::vector<std::int64_t>{1});
  EXPECT_TRUE(are_equal(run.value("head_output_0", 1), output));
}

TEST(ActivationTap, IsGoneWithItsWatcher) {
  CapturedRun run;
  TwoLayers model;
  { const auto watcher = watch(run.hook(), *model); }
  EXPECT_FALSE(at::hasThreadLocalCallbacks());
  model->forward(::torch::rand({5, 3}));
}

TEST(ActivationTap, GoesOnAfterACallThatThrows) {
  CapturedRun run;
  nn::Linear layer(3, 2);
  auto watcher = watch(run.hook(), *layer);
  EXPECT_THROW(layer(::torch::rand({5, 7})), c10::Error);
  const at::Tensor output = layer(::torch::rand({5, 3}));
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("Linear_output_0"), output));
}

TEST(Observe, RecordsWhatGoesInAndComesOut) {
  CapturedRun run;
  nn::Conv2d conv(1, 2, 3);
  nn::ReLU relu;
  auto watcher = watch(run.hook(), *conv);
  const at::Tensor input = conv(::torch::rand({2, 1, 5, 5}));
  const at::Tensor by_module = watcher.observe("conv0_relu", relu, input);
  const at::Tensor by_function = watcher.observe("conv0_relu", ::torch::relu, input - 1);
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("conv0_relu_input_0"), input));
  EXPECT_TRUE(are_equal(run.value("conv0_relu_output_0"), by_module));
  EXPECT_TRUE(are_equal(run.value("conv0_relu_output_1"), by_function));
}

}  // namespace
}  // namespace trainwarden::torch
