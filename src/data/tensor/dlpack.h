// TensorView from and to DLPack, the exchange structure that frameworks share.
// Source: dlpack.h, version 0.6 and later; type codes that 0.6 lacks go by their published numbers.
#pragma once

#include <memory>

#include <dlpack/dlpack.h>

#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden {

// A view of the same memory; valid as long as the tensor. kInvalidArgument, saying what was found, for an element type
// without counterpart (vectors of several lanes, bit-packed types) and for a shape that Shape refuses.
Result<TensorView> from_dlpack(const DLTensor& tensor);

// A managed tensor over the view's memory, which `owner` keeps alive. Whoever gets it calls its deleter, once, from any
// thread. kInvalidArgument for kString.
Result<DLManagedTensor*> to_dlpack(const TensorView& view, std::shared_ptr<const void> owner);
Result<DLManagedTensor*> to_dlpack(TensorValue value);

}  // namespace trainwarden
