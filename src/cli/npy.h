// The .npy file of one array, as NumPy reads it.
// Source of the layout: NumPy Enhancement Proposal 1, format version 1.0.
#pragma once

#include <filesystem>
#include <string>

#include "trainwarden/status.h"
#include "trainwarden/tensor_value.h"

namespace trainwarden::cli {

// The dtype in which `dtype` is written: bfloat16 and float8, which NumPy lacks, become float32 without any rounding.
DType npy_dtype(DType dtype);

// The whole file. kInvalidArgument for strings, which have no size of their own.
Result<std::string> encode_npy(const TensorValue& value);

// Replaces what is at `path`.
Status write_npy(const std::filesystem::path& path, const TensorValue& value);

}  // namespace trainwarden::cli
