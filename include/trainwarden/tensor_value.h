// A tensor read back from a run: with memory of its own, or in memory that is shared.
#pragma once

#include <cstddef>
#include <memory>
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

// A tensor's value in memory that may only be read. Trainwarden's own commands that end soon let it lie in the file.
struct SharedTensorValue {
  TensorView view;                    // packed, row-major; valid as long as the owner
  std::shared_ptr<const void> owner;  // may outlive the trial
  bool mapped = false;                // no copy was made
};

}  // namespace trainwarden
