// LAMB against what published packages compute: lamb_references.json, which make_lamb_references.py writes.
#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "training/lamb.h"

namespace bert {
namespace {

using Json = nlohmann::json;

constexpr int kLambSteps = 50;
constexpr double kLambLimit = 1e-6;  // relative to the largest weight of a tensor: the packages computed in float64

// Weights and gradients as the script makes them.
float drawn(std::uint32_t key) {
  return static_cast<float>(key * 2654435761u >> 16) / 32768.0f - 1.0f;
}

at::Tensor numbers(std::size_t place, const std::vector<std::int64_t>& shape, std::uint32_t step, float scale) {
  at::Tensor made = at::empty(shape);
  float* to = made.data_ptr<float>();
  for (std::uint32_t i = 0; i < made.numel(); ++i) {
    to[i] = scale * drawn(step * 1009 + static_cast<std::uint32_t>(place) * 97 + i + 1);
  }
  return made;
}

const std::vector<std::pair<std::string, std::vector<std::int64_t>>> kTensors{{"layer.0.dense.weight", {5, 7}},
                                                                              {"layer.0.dense.bias", {5}},
                                                                              {"layer.0.LayerNorm.weight", {5}},
                                                                              {"zero.weight", {3}}};

float gradient_scale(std::uint32_t step) {
  return step % 3 == 0 ? 1.0f : 0x1p-10f;
}

LambOptions nothing_excluded(LambOptions options) {
  options.no_decay.clear();
  options.no_adaptation.clear();
  return options;
}

LambOptions options_of(const std::string& variant) {
  if (variant == "TensorFlowAddons") return tensorflow_addons_lamb();
  if (variant == "TensorFlowAddonsNothingExcluded") return nothing_excluded({});
  if (variant == "Timm") return apex_lamb();
  if (variant == "TimmAdaptsAll") return nvlamb();
  LambOptions options = nothing_excluded({});
  if (variant == "TimmSumsAndLimitsTrust") {
    options.max_trust = 1;
    options.gradient_averaging = false;
    return options;
  }
  // torch-optimizer's is of the paper's first version, and decays nothing unless asked: the script asks for 0.01.
  options.bias_correction = false;
  options.max_weight_norm = variant == "TorchOptimizerClamped" ? 0.25 : 10;
  return options;
}

void expect_weights(const Json& expected, const NamedTensors& ours, int step) {
  for (const auto& [name, tensor] : ours) {
    const at::Tensor theirs = at::tensor(expected.at(name).get<std::vector<double>>()).view(tensor.sizes());
    const double error = (tensor.detach().to(at::kDouble) - theirs).abs().max().item<double>();
    EXPECT_LT(error / theirs.abs().max().item<double>(), kLambLimit) << name << " after step " << step;
  }
}

class LambReferenceTest : public testing::TestWithParam<std::tuple<const char*, StepLoops>> {};

TEST_P(LambReferenceTest, MovesWeightsAsThePackage) {
  const auto [variant, loops] = GetParam();
  const Json references = Json::parse(std::ifstream(LAMB_REFERENCES));
  const Json& expected = references.at(variant).at("weights_after");
  NamedTensors ours;
  for (std::size_t i = 0; i < kTensors.size(); ++i) {
    const auto& [name, shape] = kTensors[i];
    ours.emplace_back(name, numbers(i, shape, 0, name == "zero.weight" ? 0.0f : 0.25f).requires_grad_(true));
  }
  LambOptions options = options_of(variant);
  options.loops = loops;
  Lamb lamb(ours, options);
  std::size_t compared = 0;
  for (int step = 1; step <= kLambSteps; ++step) {
    for (std::size_t i = 0; i < kTensors.size(); ++i) {
      const auto key = static_cast<std::uint32_t>(step);
      ours[i].second.mutable_grad() = numbers(i, kTensors[i].second, key, gradient_scale(key));
    }
    lamb.step(0.01 / step);
    const auto found = expected.find(std::to_string(step));
    if (found == expected.end()) continue;
    expect_weights(*found, ours, step);
    ++compared;
  }
  EXPECT_EQ(compared, expected.size());
  EXPECT_TRUE(expected.contains(std::to_string(kLambSteps)));
}

INSTANTIATE_TEST_SUITE_P(Packages, LambReferenceTest,
                         testing::Combine(testing::Values("TensorFlowAddons", "TensorFlowAddonsNothingExcluded", "Timm",
                                                          "TimmAdaptsAll", "TimmSumsAndLimitsTrust", "TorchOptimizer",
                                                          "TorchOptimizerClamped"),
                                          testing::Values(StepLoops::kFused, StepLoops::kForeach)),
                         [](const auto& each) {
                           return std::string(std::get<0>(each.param)) +
                                  (std::get<1>(each.param) == StepLoops::kFused ? "Fused" : "Foreach");
                         });

}  // namespace
}  // namespace bert
