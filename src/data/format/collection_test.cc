#include "trainwarden/collection.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/regex.h"

namespace trainwarden {
namespace {

// The built-in collections whose patterns are found in a tensor's name, without `all`.
std::vector<std::string> collections_of(std::string_view tensor) {
  std::vector<std::string> found;
  for (const Collection& collection : builtin_collections()) {
    const auto patterns = RegexSet::compile(collection.include);
    EXPECT_TRUE(patterns.ok()) << patterns.status().to_string();
    if (collection.name != "all" && patterns.ok() && patterns->found_in(tensor)) found.push_back(collection.name);
  }
  return found;
}

using Names = std::vector<std::string>;

TEST(CollectionTest, TheBuiltInOnesAreThere) {
  Names names;
  for (const Collection& collection : builtin_collections()) names.push_back(collection.name);
  EXPECT_EQ(names, (Names{"weights",
                          "biases",
                          "gradients",
                          "losses",
                          "optimizer_state",
                          "buffers",
                          "inputs",
                          "outputs",
                          "scalars",
                          "relu_inputs",
                          "relu_outputs",
                          "tanh_inputs",
                          "sigmoid_inputs",
                          "softmax_outputs",
                          "attention",
                          "embedding_inputs",
                          "image_inputs",
                          "batch_inputs",
                          "predictions",
                          "labels",
                          "signals",
                          "metrics",
                          "hyperparameters",
                          "feature_importance",
                          "average_shap",
                          "full_shap",
                          "trees",
                          "default",
                          "all"}));
}

TEST(CollectionTest, PatternsFindPyTorchNames) {
  EXPECT_EQ(collections_of("conv0.weight"), Names{"weights"});
  EXPECT_EQ(collections_of("feature_importance/weight/f0"), Names()) << "how often a feature splits a tree";
  EXPECT_EQ(collections_of("average_shap/bias"), Names());
  EXPECT_EQ(collections_of("conv0.bias"), Names{"biases"});
  EXPECT_EQ(collections_of("gradient/conv0.weight"), Names{"gradients"});
  EXPECT_EQ(collections_of("gradients/conv0.bias"), Names{"gradients"});
  EXPECT_EQ(collections_of("CrossEntropyLoss_output_0"), (Names{"losses", "outputs"}));
  EXPECT_EQ(collections_of("nll_loss_output_0"), (Names{"losses", "outputs"}));
  EXPECT_EQ(collections_of("CrossEntropyLoss_input_0"), Names{"inputs"});
  EXPECT_EQ(collections_of("optimizer_state/conv0.weight/exp_avg"), Names{"optimizer_state"});
  EXPECT_EQ(collections_of("conv0_output_12"), Names{"outputs"});
  EXPECT_EQ(collections_of("bn.running_mean"), Names());
}

TEST(CollectionTest, AllFindsEverything) {
  const Collection& all = builtin_collections().back();
  const auto patterns = RegexSet::compile(all.include);
  ASSERT_TRUE(patterns.ok());
  EXPECT_TRUE(patterns->found_in("anything"));
}

}  // namespace
}  // namespace trainwarden
