// The table of operators that make up the layers of torch::nn.
#include "layer_operator.h"

#include <unordered_map>

namespace trainwarden::torch {
namespace {

using OperatorTable = std::unordered_map<std::string_view, LayerOperator>;

const OperatorTable& operators() {
  using enum LayerOperator;
  static const OperatorTable table = {
      {"aten::conv1d", kCompute},
      {"aten::conv2d", kCompute},
      {"aten::conv3d", kCompute},
      {"aten::conv_transpose1d", kCompute},
      {"aten::conv_transpose2d", kCompute},
      {"aten::conv_transpose3d", kCompute},
      {"aten::convolution", kCompute},
      {"aten::_convolution", kCompute},
      {"aten::linear", kCompute},
      {"aten::addmm", kCompute},
      {"aten::addmv", kCompute},
      {"aten::matmul", kCompute},
      {"aten::mm", kCompute},
      {"aten::mv", kCompute},
      {"aten::bmm", kCompute},
      {"aten::baddbmm", kCompute},
      {"aten::einsum", kCompute},
      {"aten::bilinear", kCompute},
      {"aten::batch_norm", kCompute},
      {"aten::layer_norm", kCompute},
      {"aten::group_norm", kCompute},
      {"aten::instance_norm", kCompute},
      {"aten::rms_norm", kCompute},
      {"aten::prelu", kCompute},
      {"aten::lstm", kCompute},
      {"aten::gru", kCompute},
      {"aten::rnn_tanh", kCompute},
      {"aten::rnn_relu", kCompute},
      {"aten::lstm_cell", kCompute},
      {"aten::gru_cell", kCompute},
      {"aten::rnn_tanh_cell", kCompute},
      {"aten::rnn_relu_cell", kCompute},
      {"aten::embedding", kLookup},
      {"aten::embedding_bag", kLookup},
      {"aten::add", kAddBias},
      {"aten::add_", kAddBias},
  };
  return table;
}

}  // namespace

LayerOperator layer_operator(std::string_view name) {
  const auto entry = operators().find(name);
  return entry == operators().end() ? LayerOperator::kNone : entry->second;
}

}  // namespace trainwarden::torch
