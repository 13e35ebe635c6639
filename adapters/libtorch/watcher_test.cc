// Watcher: what is captured at the end of a step, and what happens when something is wrong.
#include "trainwarden/torch.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "captured_run.h"
#include "trainwarden/guard.h"

namespace trainwarden::torch {
namespace {

namespace nn = ::torch::nn;
namespace optim = ::torch::optim;
using Names = std::vector<std::string>;

struct NetImpl : nn::Module {
  NetImpl() {
    register_module("fc0", fc0);
    register_module("norm", norm);
    register_module("fc1", fc1);
  }
  at::Tensor forward(const at::Tensor& x) { return fc1(norm(fc0(x))); }

  nn::Linear fc0{3, 4};
  nn::BatchNorm1d norm{4};
  nn::Linear fc1{4, 2};
};
TORCH_MODULE(Net);

void run_backward(Net& net) {
  net->forward(::torch::rand({5, 3})).square().sum().backward();
}

TEST(Watcher, ParametersBuffersAndGradientsByName) {
  CapturedRun run;
  Net net;
  auto watcher = watch(run.hook(), *net, {.activations = false});
  run_backward(net);
  watcher.end_step();

  EXPECT_EQ(run.names(),
            (Names{"fc0.bias", "fc0.weight", "fc1.bias", "fc1.weight", "gradient/fc0.bias", "gradient/fc0.weight",
                   "gradient/fc1.bias", "gradient/fc1.weight", "gradient/norm.bias", "gradient/norm.weight",
                   "norm.bias", "norm.num_batches_tracked", "norm.running_mean", "norm.running_var", "norm.weight"}));
  for (const auto& item : net->named_parameters()) {
    EXPECT_TRUE(are_equal(run.value(item.key()), *item));
    EXPECT_TRUE(are_equal(run.value("gradient/" + item.key()), item->grad()));
  }
  for (const auto& item : net->named_buffers()) EXPECT_TRUE(are_equal(run.value(item.key()), *item));
  EXPECT_EQ(run.names({.collection = "buffers"}),
            (Names{"norm.num_batches_tracked", "norm.running_mean", "norm.running_var"}));
}

TEST(Watcher, ValuesAreThoseAtTheEndOfEachStep) {
  CapturedRun run;
  nn::Linear layer(3, 2);
  optim::SGD optimizer(layer->parameters(), 0.1);
  auto watcher = watch(run.hook(), *layer, {.activations = false});
  std::vector<at::Tensor> weights;
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    layer(::torch::rand({5, 3})).sum().backward();
    optimizer.step();
    weights.push_back(layer->weight.detach().clone());
    const StepEnd end = watcher.end_step();
    EXPECT_EQ(end.global_step, step);
    EXPECT_FALSE(end.stop_requested);
  }
  for (int step = 0; step < 3; ++step) EXPECT_TRUE(are_equal(run.value("weight", step), weights[step]));
}

TEST(Watcher, MissingGradientsAreSkipped) {
  CapturedRun run;
  Net net;
  net->fc0->weight.requires_grad_(false);
  auto watcher = watch(run.hook(), *net, {.activations = false});
  watcher.end_step();
  run_backward(net);
  watcher.end_step();

  EXPECT_FALSE(run.has("gradient/fc0.weight"));
  EXPECT_EQ(run.steps_of("gradient/fc0.bias"), std::vector<std::int64_t>{1});
  EXPECT_EQ(run.steps_of("fc0.weight"), (std::vector<std::int64_t>{0, 1}));
}

TEST(Watcher, OnlyWhatTheHookWants) {
  HookOptions options;
  options.collections = {{.name = "gradients", .save = SavePolicy::every(2)}};
  CapturedRun run(options);
  Net net;
  auto watcher = watch(run.hook(), *net);
  for (int step = 0; step < 3; ++step) {
    run_backward(net);
    watcher.end_step();
  }
  EXPECT_EQ(run.names({.include = {"^fc0", "^norm"}}), Names{});
  EXPECT_EQ(run.steps_of("gradient/fc0.weight"), (std::vector<std::int64_t>{0, 2}));
}

TEST(Watcher, ASharedParameterIsKeptOnceUnderItsFirstName) {
  CapturedRun run;
  nn::Linear layer(3, 3);
  nn::Module model;
  model.register_module("encoder", layer);
  model.register_module("decoder", layer);
  auto watcher = watch(run.hook(), model);
  const at::Tensor output = layer(layer(::torch::rand({1, 3})));
  watcher.end_step();
  EXPECT_EQ(run.names(), (Names{"encoder.bias", "encoder.weight", "encoder_input_0", "encoder_input_1",
                                "encoder_output_0", "encoder_output_1"}));
  EXPECT_TRUE(are_equal(run.value("encoder_output_1"), output));
}

TEST(Watcher, ParametersThatComeLaterAreFound) {
  CapturedRun run;
  Net net;
  auto watcher = watch(run.hook(), *net, {.activations = false});
  watcher.end_step();
  net->fc0->register_parameter("scale", ::torch::ones({4}));
  net->register_module("extra", nn::Linear(2, 2));
  watcher.end_step();
  EXPECT_EQ(run.steps_of("fc0.scale"), std::vector<std::int64_t>{1});
  EXPECT_EQ(run.steps_of("extra.weight"), std::vector<std::int64_t>{1});
}

TEST(Watcher, BFloat16) {
  CapturedRun run;
  nn::Linear layer(3, 2);
  layer->to(at::kBFloat16);
  auto watcher = watch(run.hook(), *layer, {.activations = false});
  layer(::torch::rand({5, 3}).to(at::kBFloat16)).sum().backward();
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("weight"), layer->weight));
  EXPECT_TRUE(are_equal(run.value("gradient/weight"), layer->weight.grad()));
}

TEST(Watcher, APrefixTellsModelsApart) {
  CapturedRun run;
  nn::Linear a(2, 2);
  nn::Linear b(2, 2);
  auto first = watch(run.hook(), *a, {.prefix = "a."});
  auto second = watch(run.hook(), *b, {.prefix = "b."});
  b(a(::torch::rand({1, 2})));
  second.loss("MSELoss", ::torch::tensor(0.5));
  first.end_step();
  EXPECT_EQ(run.names(), (Names{"a.Linear_input_0", "a.Linear_output_0", "a.bias", "a.weight", "b.Linear_input_0",
                                "b.Linear_output_0", "b.MSELoss_output_0"}));
}

TEST(Watcher, LossesAreRecordedAndGivenBack) {
  HookOptions options;
  options.collections = {{.name = "losses", .save = SavePolicy::every(1)}};
  CapturedRun run(options);
  nn::Linear layer(2, 1);
  auto watcher = watch(run.hook(), *layer);
  const at::Tensor value = ::torch::tensor(0.25, ::torch::requires_grad());
  const at::Tensor loss = watcher.loss("MSELoss", value);
  watcher.loss("objective", value * 2);
  watcher.end_step();
  EXPECT_TRUE(loss.is_same(value));
  EXPECT_EQ(run.names({.collection = "losses"}), (Names{"MSELoss_output_0", "objective_output_0"}));
  EXPECT_TRUE(are_equal(run.value("MSELoss_output_0"), value));
}

TEST(Watcher, LazilyConjugatedTensorsAreResolved) {
  CapturedRun run;
  nn::Linear layer(2, 1);
  auto watcher = watch(run.hook(), *layer);
  const at::Tensor conjugated = ::torch::complex(::torch::ones({2}), ::torch::ones({2})).conj();
  watcher.save_output("fft", conjugated);
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("fft_output_0"), conjugated.resolve_conj()));
}

TEST(Watcher, TensorsThatCannotBeReadAreCountedAsLost) {
  CapturedRun run;
  nn::Linear layer(2, 1);
  auto watcher = watch(run.hook(), *layer, {.activations = false});
  watcher.save_output("sparse", ::torch::eye(3).to_sparse());
  watcher.end_step();
  EXPECT_FALSE(run.has("sparse_output_0"));
  EXPECT_EQ(run.count_lost(LossCause::kUnsupported), 1u);
}

TEST(Watcher, WithAHookThatIsOffNothingHappens) {
  const auto hook = Hook::disabled();
  Net net;
  auto watcher = watch(*hook, *net);
  EXPECT_FALSE(at::hasThreadLocalCallbacks());
  watcher.set_mode(Mode::kTrain);
  const at::Tensor loss = watcher.loss("MSELoss", ::torch::tensor(0.5));
  const at::Tensor output = watcher.observe("relu", ::torch::relu, ::torch::tensor(-1.0));
  EXPECT_EQ(loss.item<double>(), 0.5);
  EXPECT_EQ(output.item<double>(), 0.0);
  EXPECT_FALSE(watcher.end_step().stop_requested);
}

TEST(Watcher, AFaultStaysOutOfTheTraining) {
  CapturedRun run;
  nn::Linear layer(2, 1);
  auto watcher = watch(run.hook(), *layer);
  const std::uint64_t before = failures();
  const auto no_device = c10::make_intrusive<c10::TensorImpl>(c10::DispatchKeySet(), caffe2::TypeMeta::Make<float>(),
                                                              c10::optional<c10::Device>());
  watcher.save_output("broken", at::Tensor(no_device));
  EXPECT_EQ(failures(), before + 1);
  watcher.end_step();
  EXPECT_TRUE(are_equal(run.value("weight"), layer->weight));
}

TEST(Watcher, WhatAnObservedLayerThrowsIsTheCallers) {
  CapturedRun run;
  nn::Linear layer(2, 1);
  auto watcher = watch(run.hook(), *layer);
  const auto refuse = [](const at::Tensor&) -> at::Tensor { throw std::out_of_range("refused"); };
  EXPECT_THROW(watcher.observe("refusing", refuse, ::torch::ones({1})), std::out_of_range);
}

void ask_for_checkpoint(Hook& hook, const std::string& key) {
  const std::filesystem::path control = hook.options().run_dir / "control";
  std::ofstream(control / "beside.tmp")
      << R"({"type":"checkpoint","reason":"r","rule":"","global_step":-1,"requested_by":"user","unix_ns":1,"key":")"
      << key << R"("})";
  std::filesystem::rename(control / "beside.tmp", control / ("checkpoint-" + key + ".json"));
}

// What fails while it is saved stays out of the training, and the next one is saved.
TEST(Watcher, SavesWhenSomebodyAsks) {
  CapturedRun run;
  nn::Linear layer(2, 1);
  auto watcher = watch(run.hook(), *layer);
  int calls = 0;
  watcher.on_checkpoint([&](const std::filesystem::path& file) {
    if (++calls == 1) TORCH_CHECK(false, "no room");
    ::torch::save(layer, file.string());
  });
  const std::uint64_t before = failures();
  for (int wanted = 1; wanted <= 2; ++wanted) {
    ask_for_checkpoint(run.hook(), std::to_string(wanted));
    while (calls < wanted) {
      watcher.end_step();
      ASSERT_TRUE(run.hook().flush().ok());
    }
  }
  EXPECT_EQ(failures(), before);
  const std::filesystem::path folder = run.hook().options().run_dir / "checkpoints";
  ASSERT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  nn::Linear loaded(2, 1);
  ::torch::load(loaded, std::filesystem::directory_iterator(folder)->path().string());
  EXPECT_TRUE(are_equal(loaded->weight, layer->weight));
}

TEST(Watcher, AStepThatWouldPoisonTheWeightsIsVetoed) {
  CapturedRun run;
  const auto spec = parse_rule_spec("ExplodingTensor:collection_names=gradients");
  ASSERT_TRUE(spec.ok());
  ASSERT_TRUE(Guard::install(run.hook(), std::vector{*spec}, {.on_fire = OnFire::kSkipStep}).ok());
  nn::Linear layer(2, 1);
  auto watcher = watch(run.hook(), *layer);
  optim::SGD optimizer(layer->parameters(), 0.1);
  std::vector<StepAdvice> advice;
  for (const double factor : {1.0, std::nan(""), 1.0}) {
    optimizer.zero_grad();
    (layer(::torch::ones({3, 2})).square().sum() * factor).backward();
    advice.push_back(watcher.judge_step());
    if (advice.back() == StepAdvice::kProceed) optimizer.step();
    watcher.end_step();
  }
  EXPECT_EQ(advice, (std::vector{StepAdvice::kProceed, StepAdvice::kSkipStep, StepAdvice::kProceed}));
  EXPECT_TRUE(are_equal(run.value("weight", 1), run.value("weight", 0))) << "untouched";
  EXPECT_TRUE(run.value("gradient/weight", 1).isnan().all().item<bool>()) << "as they were judged";
  EXPECT_FALSE(run.value("weight", 2).equal(run.value("weight", 1)));
  EXPECT_FALSE(run.has("gradient/weight#1")) << "saved once";
}

}  // namespace
}  // namespace trainwarden::torch
