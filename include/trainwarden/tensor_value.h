// TensorValue: a tensor read back from a run, with its own memory.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "trainwarden/dtype.h"
#include "trainwarden/export.h"
#include "trainwarden/tensor_view.h"

namespace trainwarden {

// A tensor's value with its own memory.
struct TRAINWARDEN_API TensorValue {
  DType dtype = DType::kFloat32;
  Shape shape;
  std::vector<std::byte> data;       // packed, row-major, little-endian; empty for kString
  std::vector<std::string> strings;  // for kString, in row-major order

  TensorView view() const;  // of numeric values; valid as long as this object is neither changed nor moved from
  // The elements as double (bool as 0 and 1, complex as its real part). Empty for kString.
  std::vector<double> to_doubles() const;
};

}  // namespace trainwarden
