// Files of safetensors: named tensors in one file (https://github.com/huggingface/safetensors, "Format").
//
// A file is a length of 8 bytes (little endian), a JSON header of that length, and the tensors' bytes, which the header
// places: {"name": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, ...}.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include <ATen/core/Tensor.h>

namespace bert {

// What a file holds: found by name, in no order that means anything. A training has NamedTensors (training), which are
// in the order of the model: that is the order of its sums, of ranks and of an optimizer's state.
using TensorsByName = std::map<std::string, at::Tensor>;

// Reads a file. Dtypes: F64, F32, F16, BF16, I64, I32, U8 and BOOL. The tensors are on the CPU and share a private
// mapping of the file, which lives as long as one of them: writing into them leaves the file as it is. The file must
// not be shortened meanwhile. Throws std::runtime_error, which names the file, unless the header is sound and the
// tensors fill the rest of the file without gaps and overlaps. Any thread.
TensorsByName read_safetensors(const std::filesystem::path& file);

// Reads the weights in a folder: model.safetensors, or the files that model.safetensors.index.json names, which must
// lie in the folder and hold what the index says. Throws like read_safetensors().
TensorsByName read_model_tensors(const std::filesystem::path& folder);

// Writes a file with the metadata {"format": "pt"}, ordered by name. Any device; dtypes as above. The file is there
// whole or not at all: it is written beside its place, synchronised and renamed. Throws std::runtime_error.
void write_safetensors(const std::filesystem::path& file, const TensorsByName& tensors);

}  // namespace bert
