// Checkpoints of TensorFlow, as Google published BERT: a "tensor bundle" NAME.index with NAME.data-00000-of-00001.
//
// The index is a table of sorted keys (https://github.com/google/leveldb/blob/main/doc/table_format.md) with a
// BundleEntryProto for each tensor (tensorflow/core/protobuf/tensor_bundle.proto); the data files hold bytes alone.
#pragma once

#include <filesystem>

#include "weights/safetensors.h"

namespace bert {

// Reads all tensors of float and integer types by their names in the checkpoint ("bert/pooler/dense/kernel"), in memory
// of their own; optimizer's slots (adam_m, adam_v) and what has another type are left out. `index` is the file
// NAME.index. Throws std::runtime_error for compressed tables, big-endian files, tensors in slices, and what is
// damaged: the tensors' checksums are compared.
TensorsByName read_tensorflow_checkpoint(const std::filesystem::path& index);

// The same weights under the names of Hugging Face's BERT, with kernels transposed, as our_name() knows them; others
// are left out. The heads of run_squad.py and run_classifier.py become qa_outputs and classifier.
TensorsByName from_tensorflow_names(const TensorsByName& tensors);

}  // namespace bert
