#include "trainwarden/collection.h"

namespace trainwarden {

// The patterns of weights, biases, gradients and losses are smdebug's for PyTorch, except that the optimizer's state of
// a weight (optimizer_state/conv0.weight/exp_avg), which smdebug did not capture, is not a weight, and that neither are
// what boosted trees say of their features (feature_importance/weight/f0, average_shap/bias).
const std::vector<Collection>& builtin_collections() {
  static const std::vector<Collection> collections = {
      {.name = "weights",
       .include = {"^(?!gradient|optimizer_state/|feature_importance/|average_shap/|full_shap/).*weight"}},
      {.name = "biases",
       .include = {"^(?!gradient|optimizer_state/|feature_importance/|average_shap/|full_shap/).*bias"}},
      {.name = "gradients", .include = {"^gradient"}},
      {.name = "losses", .include = {"[Ll]oss_(?!input).*output"}},
      {.name = "optimizer_state", .include = {"^optimizer_state/"}},
      {.name = "buffers"},  // by name: the adapter knows which tensors they are
      {.name = "inputs", .include = {"_input_\\d+"}},
      {.name = "outputs", .include = {"_output_\\d+"}},
      {.name = "scalars"},  // by save_scalar
      // By name: the adapter knows the kinds of the layers, and what the training is given.
      {.name = "relu_inputs"},
      {.name = "relu_outputs"},
      {.name = "tanh_inputs"},
      {.name = "sigmoid_inputs"},
      {.name = "softmax_outputs"},
      {.name = "attention"},
      {.name = "embedding_inputs"},
      {.name = "image_inputs"},  // of the first convolution
      {.name = "batch_inputs"},  // of the outermost model
      {.name = "predictions"},   // what a loss is computed from
      {.name = "labels"},        // what it compares them with
      {.name = "signals"},       // what the training does: docs/format/signals.md
      // Of boosted trees, by name, as smdebug called them.
      {.name = "metrics"},
      {.name = "hyperparameters"},
      {.name = "feature_importance"},
      {.name = "average_shap"},
      {.name = "full_shap"},
      {.name = "trees"},
      {.name = "default"},  // filled by the user
      {.name = "all", .include = {".*"}},
  };
  return collections;
}

}  // namespace trainwarden
