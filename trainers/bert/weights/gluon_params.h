// Files of MXNet, as GluonNLP's BERT is published: NAME.params, a list of arrays and their names.
//
// The format is that of mx.nd.save() (src/ndarray/ndarray.cc of MXNet, NDArray::Save).
#pragma once

#include <filesystem>

#include "weights/safetensors.h"

namespace bert {

// Reads all arrays by their names, in memory of their own. Versions 1 to 3 of arrays; dtypes float16 to float64, uint8,
// int32 and int64. Throws std::runtime_error for sparse arrays, other dtypes, arrays without names, and what is
// damaged.
TensorsByName read_gluon_params(const std::filesystem::path& file);

// The same weights under the names of Hugging Face's BERT; others are left out. GluonNLP has its own vocabulary, in
// another order: use the one that came with the file.
TensorsByName from_gluon_names(const TensorsByName& tensors);

}  // namespace bert
