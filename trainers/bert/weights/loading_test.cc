// Tests of loading weights into a module.
#include "weights/loading.h"

#include <stdexcept>

#include <gtest/gtest.h>
#include <torch/nn/modules/linear.h>
#include <torch/types.h>
#include <torch/utils.h>

namespace bert {
namespace {

// Stands for a model: one weight of an encoder and a head.
struct Small : torch::nn::Module {
  Small() {
    auto part = std::make_shared<torch::nn::Module>();
    weight = part->register_parameter("word", torch::zeros({3, 2}));
    register_module("bert", part);
    register_module("qa_outputs", head);
  }
  at::Tensor weight;
  torch::nn::Linear head{2, 2};
};

std::string error_of(const TensorsByName& tensors) {
  Small model;
  try {
    load_weights(model, {}, tensors, "file");
  } catch (const std::runtime_error& error) {
    EXPECT_TRUE(torch::equal(model.weight, torch::zeros({3, 2})));
    return error.what();
  }
  return "";
}

TEST(LoadingTest, ReportsEveryTensor) {
  Small model;
  const at::Tensor head_before = model.head->weight.clone();
  const LoadReport report =
      load_weights(model, {}, {{"bert.word", torch::ones({3, 2}, at::kHalf)}, {"cls.other", torch::ones({1})}}, "file");
  EXPECT_EQ(report.loaded, std::vector<std::string>({"bert.word"}));
  EXPECT_EQ(report.fresh, std::vector<std::string>({"qa_outputs.weight", "qa_outputs.bias"}));
  EXPECT_EQ(report.unused, std::vector<std::string>({"cls.other"}));
  EXPECT_TRUE(torch::equal(model.weight, torch::ones({3, 2})));
  EXPECT_TRUE(torch::equal(model.head->weight, head_before));
}

TEST(LoadingTest, AnotherShapeIsTold) {
  const std::string error = error_of({{"bert.word", torch::ones({4, 2})}});
  EXPECT_NE(error.find("bert.word: expected the shape [3, 2], found [4, 2]"), std::string::npos) << error;
  // Nothing is loaded when a later tensor is wrong.
  EXPECT_NE(error_of({{"bert.word", torch::ones({3, 2})}, {"qa_outputs.bias", torch::ones({5})}}), "");
}

TEST(LoadingTest, AMissingWeightOfTheEncoderIsTold) {
  EXPECT_NE(error_of({}).find("expected the tensor bert.word"), std::string::npos);
}

TEST(LoadingTest, AWeightThatIsThereTwiceIsTold) {
  const at::Tensor one = torch::ones({1});
  EXPECT_NE(error_of({{"bert.word", torch::ones({3, 2})}, {"x.gamma", one}, {"x.weight", one}}).find("the same one"),
            std::string::npos);
}

}  // namespace
}  // namespace bert
