// Collection: a named set of tensors, by name or by pattern.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trainwarden/export.h"
#include "trainwarden/save_policy.h"

namespace trainwarden {

// A tensor belongs to the collection when its name is in `tensor_names` or when any pattern of `include` is found
// anywhere in it (PCRE2, searched, not anchored).
struct Collection {
  std::string name = {};
  std::vector<std::string> include = {};
  std::vector<std::string> tensor_names = {};
  std::optional<SavePolicy> save = {};  // none: the hook's
  std::optional<KeepForm> keep = {};    // none: the hook's
  friend bool operator==(const Collection&, const Collection&) = default;
};

// weights, biases, gradients, losses, optimizer_state, buffers, inputs, outputs, scalars, default, all; by kinds of
// layers relu_inputs, relu_outputs, tanh_inputs, sigmoid_inputs, softmax_outputs, attention, embedding_inputs,
// image_inputs; batch_inputs, predictions, labels; signals: what a user may include by name alone. Only `losses` and
// `scalars` are saved when nothing is asked for. `losses`, `scalars` and `signals` are always kept as values, whatever
// KeepForm says.
TRAINWARDEN_API const std::vector<Collection>& builtin_collections();

}  // namespace trainwarden
