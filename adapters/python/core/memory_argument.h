// A tensor given by numbers: what adapters know of it without any object in between.
#pragma once

#include <nanobind/nanobind.h>

#include "trainwarden/tensor_view.h"

namespace trainwarden::python {

struct MemoryArgument {
  int dtype = 0;             // DType's number
  nanobind::handle shape;    // tuple of int
  nanobind::handle strides;  // tuple of int, in elements; None: row-major without gaps
  int device_type = 1;       // DLPack's number
  int device_index = 0;

  // Without its data. TypeError and ValueError for what is no tensor.
  TensorView view() const;
};

}  // namespace trainwarden::python
