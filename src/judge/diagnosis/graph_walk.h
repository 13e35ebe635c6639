// Walking through the graph of a loss: from an operator to what it is computed from, past what does not change numbers.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "judge/diagnosis/history.h"

namespace trainwarden::diagnosis {

inline bool starts_with(std::string_view text, std::string_view part) {
  return text.substr(0, part.size()) == part;
}

inline bool is_one_of(std::string_view operation, std::initializer_list<std::string_view> names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return operation == name; });
}

// Operators that only hand on, or move, what they get.
inline bool hands_on(std::string_view operation) {
  return is_one_of(
      operation,
      {"View",      "UnsafeView",    "ReshapeAlias", "Reshape",   "Permute", "Transpose", "T",      "Clone",
       "Alias",     "ToCopy",        "Squeeze",      "Unsqueeze", "Slice",   "Select",    "Expand", "Contiguous",
       "AsStrided", "NativeDropout", "FusedDropout", "Identity",  "Flatten", "Index"});
}
// Does it keep what a linear map gives linear?
inline bool stays_linear(std::string_view operation) {
  return hands_on(operation) || is_one_of(operation, {"NativeBatchNorm", "CudnnBatchNorm", "AvgPool2D", "MeanDim",
                                                      "Mean", "AdaptiveAvgPool2D"});
}
inline bool is_linear_map(std::string_view operation) {
  return is_one_of(operation,
                   {"Addmm", "Mm", "Linear", "Convolution", "ConvolutionOverrideable", "MkldnnConvolution", "Baddbmm"});
}
inline bool is_nonlinear(std::string_view operation) {
  return is_one_of(operation, {"Relu",
                               "LeakyRelu",
                               "Gelu",
                               "Silu",
                               "Sigmoid",
                               "Tanh",
                               "Elu",
                               "Softplus",
                               "Hardtanh",
                               "Hardswish",
                               "Hardsigmoid",
                               "Mish",
                               "Prelu",
                               "Selu",
                               "Celu",
                               "Softmax",
                               "MaxPool2DWithIndices",
                               "Threshold",
                               "Clamp",
                               "ClampMin",
                               "Max",
                               "Abs",
                               "Sin",
                               "Cos",
                               "Pow",
                               "Exp",
                               "Log",
                               "Sqrt",
                               "Rsqrt",
                               "LogSigmoid",
                               "Glu",
                               "NativeLayerNorm",
                               "NativeGroupNorm",
                               "Lstm",
                               "Gru",
                               "MkldnnRnnLayer",
                               "ScaledDotProductFlashAttentionForCpu"});
}

// The node behind those that only hand on; itself when it does more.
inline std::size_t past_views(const Graph& graph, std::size_t at) {
  for (int i = 0; i < 12 && hands_on(graph.nodes[at].operation) && !graph.nodes[at].from.empty(); ++i)
    at = graph.nodes[at].from.front();
  return at;
}

// Is it a parameter, or made of parameters alone by a few operators, as a weight under a mask is?
inline bool is_of_parameters(const Graph& graph, std::size_t at, int depth = 3) {
  const GraphNode& node = graph.nodes[at];
  if (node.operation == "parameter" || node.operation == "leaf") return true;
  if (depth == 0 || node.from.empty() || node.from.size() > 3 ||
      !is_one_of(node.operation, {"Mul", "Div", "WeightNorm", "WeightNormInterface"}))
    return false;
  return std::all_of(node.from.begin(), node.from.end(),
                     [&](std::size_t from) { return is_of_parameters(graph, past_views(graph, from), depth - 1); });
}

// What the operator computes from, besides parameters: its activations.
inline std::vector<std::size_t> inputs_of(const Graph& graph, std::size_t at) {
  std::vector<std::size_t> inputs;
  for (const std::size_t from : graph.nodes[at].from) {
    const std::size_t source = past_views(graph, from);
    if (!is_of_parameters(graph, source)) inputs.push_back(source);
  }
  return inputs;
}

}  // namespace trainwarden::diagnosis
