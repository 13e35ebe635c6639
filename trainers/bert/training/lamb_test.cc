// LAMB against the published algorithm, written in operators of float64, after each of 50 steps.
#include "training/lamb.h"

#include <ATen/Functions.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "training/determinism.h"

namespace bert {
namespace {

const std::vector<std::pair<std::string, std::vector<std::int64_t>>> kShapes{{"layer.0.dense.weight", {48, 401}},
                                                                             {"layer.0.dense.bias", {48}},
                                                                             {"layer.0.LayerNorm.weight", {48}},
                                                                             {"head", {2, 48}},
                                                                             {"zero.weight", {6}}};

NamedTensors parameters() {
  seed_all(11);
  NamedTensors all;
  for (const auto& [name, shape] : kShapes) {
    all.emplace_back(name, name == "zero.weight" ? at::zeros(shape) : at::randn(shape) * 0.05);
  }
  return all;
}

// Algorithm 2 of the paper, a tensor at a time, as its published implementations read it.
class PublishedLamb {
 public:
  PublishedLamb(const NamedTensors& start, const LambOptions& options) : options_(options) {
    for (const auto& [name, tensor] : start) {
      states_.push_back(
          {name, tensor.to(at::kDouble), at::zeros_like(tensor, at::kDouble), at::zeros_like(tensor, at::kDouble)});
    }
  }

  void step(const std::vector<at::Tensor>& gradients, double learning_rate) {
    ++t_;
    double scale = 1;
    if (options_.max_gradient_norm > 0) {
      double sum = 0;
      for (const at::Tensor& gradient : gradients) sum += gradient.to(at::kDouble).square().sum().item<double>();
      if (std::sqrt(sum) > options_.max_gradient_norm) scale = options_.max_gradient_norm / std::sqrt(sum);
    }
    for (std::size_t i = 0; i < states_.size(); ++i) {
      step_one(states_[i], gradients[i].to(at::kDouble) * scale, learning_rate);
    }
  }

  struct State {
    std::string name;
    at::Tensor w, m, v;
    double ratio = 1;
  };
  const std::vector<State>& states() const { return states_; }

 private:
  static bool listed(const std::vector<std::string>& parts, const std::string& name) {
    for (const std::string& part : parts) {
      if (name.find(part) != std::string::npos) return true;
    }
    return false;
  }

  void step_one(State& s, const at::Tensor& g, double learning_rate) {
    s.m = 0.9 * s.m + 0.1 * g;
    s.v = 0.999 * s.v + 0.001 * g * g;
    const double c1 = options_.bias_correction ? 1 - std::pow(0.9, t_) : 1;
    const double c2 = options_.bias_correction ? 1 - std::pow(0.999, t_) : 1;
    at::Tensor u = (s.m / c1) / ((s.v / c2).sqrt() + options_.epsilon);
    if (!listed(options_.no_decay, s.name)) u = u + options_.weight_decay * s.w;
    const double w_norm = s.w.norm().item<double>();
    const double u_norm = u.norm().item<double>();
    s.ratio = 1;
    if (!listed(options_.no_adaptation, s.name) && w_norm > 0 && u_norm > 0) {
      const double phi = std::min(std::max(w_norm, options_.min_weight_norm), options_.max_weight_norm);
      s.ratio = std::min(phi / u_norm, options_.max_trust);
    }
    s.w = s.w - learning_rate * s.ratio * u;
  }

  LambOptions options_;
  std::vector<State> states_;
  int t_ = 0;
};

struct Variant {
  const char* name;
  LambOptions options;
};

LambOptions changed(const std::function<void(LambOptions&)>& change) {
  LambOptions options;
  change(options);
  return options;
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all{
      {"TensorFlowAddons", tensorflow_addons_lamb()},
      {"Apex", apex_lamb()},
      {"Nvlamb", nvlamb()},
      {"WithoutCorrection", changed([](LambOptions& o) { o.bias_correction = false; })},
      {"ClampedNorm", changed([](LambOptions& o) { o.min_weight_norm = 0.5, o.max_weight_norm = 2; })},
      {"ClampedTrust", changed([](LambOptions& o) { o.max_trust = 0.02; })},
      {"NothingExcluded", changed([](LambOptions& o) { o.no_decay.clear(), o.no_adaptation.clear(); })}};
  return all;
}

class LambTest : public testing::TestWithParam<std::tuple<std::size_t, StepLoops>> {};

TEST_P(LambTest, IsThePublishedAlgorithmAfterEachStep) {
  LambOptions options = variants()[std::get<0>(GetParam())].options;
  options.loops = std::get<1>(GetParam());
  NamedTensors ours = parameters();
  PublishedLamb published(ours, options);
  for (auto& [name, tensor] : ours) tensor.requires_grad_(true);
  Lamb lamb(ours, options);
  for (int step = 0; step < 50; ++step) {
    std::vector<at::Tensor> gradients;
    for (auto& [name, tensor] : ours) {
      tensor.mutable_grad() = at::randn(tensor.sizes()) * (step % 3 == 0 ? 1.0 : 0.001);
      gradients.push_back(tensor.grad());
    }
    const double learning_rate = 0.01 / (1 + step);
    lamb.step(learning_rate);
    published.step(gradients, learning_rate);
    const std::vector<LayerTrust> trust = lamb.trust();
    ASSERT_EQ(trust.size(), ours.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
      const PublishedLamb::State& expected = published.states()[i];
      const double error = (ours[i].second.detach().to(at::kDouble) - expected.w).abs().max().item<double>();
      ASSERT_LT(error / expected.w.abs().max().item<double>(), 1e-6) << expected.name << " in step " << step;
      ASSERT_NEAR(trust[i].ratio / expected.ratio, 1, 1e-5) << expected.name << " in step " << step;
      ASSERT_EQ(trust[i].name, expected.name);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, LambTest,
                         testing::Combine(testing::Range<std::size_t>(0, 7),
                                          testing::Values(StepLoops::kFused, StepLoops::kForeach)),
                         [](const auto& each) {
                           return std::string(variants()[std::get<0>(each.param)].name) +
                                  (std::get<1>(each.param) == StepLoops::kFused ? "Fused" : "Foreach");
                         });

TEST(LambTrustTest, TellsNormsOfTheWeightsBeforeTheStep) {
  at::Tensor weight = at::full({4}, 3.0).requires_grad_(true);
  Lamb lamb({{"w", weight}}, {.epsilon = 1e-12, .weight_decay = 0});
  weight.mutable_grad() = at::full({4}, 5.0);
  lamb.step(0.1);
  ASSERT_EQ(lamb.trust().size(), 1u);
  EXPECT_NEAR(lamb.trust()[0].weight_norm, 6, 1e-6);
  EXPECT_NEAR(lamb.trust()[0].update_norm, 2, 1e-5);  // corrected, the first update is 1 for each number
  EXPECT_NEAR(lamb.trust()[0].ratio, 3, 1e-5);
  EXPECT_NEAR(weight[0].item<double>(), 3 - 0.1 * 3, 1e-5);
}

TEST(LambTrustTest, RefusesOptionsThatCannotBe) {
  const at::Tensor weight = at::ones({4}).requires_grad_(true);
  EXPECT_THROW(Lamb({{"w", weight}}, {.min_weight_norm = 2, .max_weight_norm = 1}), std::runtime_error);
  EXPECT_THROW(Lamb({{"w", weight}}, {.max_trust = 0}), std::runtime_error);
}

}  // namespace
}  // namespace bert
