// From at::Tensor to the hook.
#pragma once

#include <ATen/core/Tensor.h>

#include "trainwarden/hook.h"

namespace trainwarden::torch {

// The first element's address, on whatever device; null for a tensor without plain memory.
const void* address_of(const at::Tensor& tensor);

// Saves the tensor if the hook wants it. An undefined tensor is skipped; a lazily conjugated or negated one is
// resolved.
void save_if_wanted(Hook& hook, TensorId id, const at::Tensor& tensor);

}  // namespace trainwarden::torch
