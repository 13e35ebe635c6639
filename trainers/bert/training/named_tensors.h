// A list of tensors with their names: parameters of a model, state of an optimizer, what a checkpoint holds.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <utility>
#include <vector>

namespace bert {

// In an order that matters: that of the model's parameters, in which norms are summed and ranks exchange. So it is no
// map: TensorsByName (weights) is one, of what is looked up by its name in a file. Names are unique. A Tensor is a
// reference to its storage.
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// Copies each tensor of `from` into the one of `to` with its name, without a gradient, whatever the order. All is
// checked before the first copy. Throws std::runtime_error, beginning with `what`, that says which names are missing,
// which are unexpected, and whose shape or dtype differs.
void copy_by_name(const NamedTensors& from, const NamedTensors& to, const std::string& what);

// Throws std::runtime_error unless all are leaves of float32, bfloat16 or float16, strided and contiguous, on one
// device, under names that differ.
void check_parameters(const NamedTensors& parameters);

}  // namespace bert
