// The .npy file of one array, as NumPy reads it.
// Source of the layout: NumPy Enhancement Proposal 1, format version 1.0.
#pragma once

#include <filesystem>
#include <string>

#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"

namespace trainwarden::transfer {

// The dtype in which `dtype` is written: bfloat16 and float8, which NumPy lacks, become float32 without any rounding.
// Texts become arrays of fixed width (dtype "<U5"): bytes that are not UTF-8 are U+FFFD there.
DType npy_dtype(DType dtype);

// The whole file of a packed tensor.
std::string encode_npy(const TensorView& packed);

// Replaces what is at `path`.
Status write_npy(const std::filesystem::path& path, const TensorValue& value);

}  // namespace trainwarden::transfer
