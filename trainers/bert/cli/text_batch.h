// Texts as a batch of tensors.
#pragma once

#include <cstdint>
#include <span>

#include "model/model.h"
#include "words/documents.h"

namespace bert {

// Pads with `padding` to the longest. Token types are left to the model: all 0.
Inputs make_inputs(std::span<const Pieces* const> texts, std::int32_t padding, at::Device device);

}  // namespace bert
