// Which operators of LibTorch count as the call of a layer when they use a layer's parameters.
//
// The list keeps out what also reads parameters without being a call: views (aten::t), optimizer steps, weight decay,
// penalties on weights.
#pragma once

#include <cstdint>
#include <string_view>

namespace trainwarden::torch {

enum class LayerOperator : std::uint8_t {
  kNone,
  kCompute,  // convolution, matrix product, normalisation, recurrent layer, ...
  kLookup,   // embedding: with a weight that an embedding shares with a linear layer, this one means the embedding
  kAddBias,  // ends the call of a linear layer on inputs of three dimensions and more, a product and a sum
};

// `name` as RecordFunction gives it: "aten::conv2d".
LayerOperator layer_operator(std::string_view name);

}  // namespace trainwarden::torch
