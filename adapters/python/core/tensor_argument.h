// What Python may hand over as a tensor: anything with the buffer protocol, DLPack or __array_interface__, tensors of
// PyTorch, numbers, texts, and lists of them.
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "trainwarden/tensor_view.h"

namespace trainwarden::python {

// A view of somebody's memory and what keeps it there. No copy is made, but for arrays that NumPy itself cannot show
// (foreign byte order, gaps that are no multiple of the element) and for lists.
struct BorrowedTensor {
  TensorView view;
  nanobind::ndarray<nanobind::ro> array;  // one of both keeps the memory
  nanobind::object owner;
};

struct BorrowedStrings {
  std::vector<std::string_view> strings;
  nanobind::object owner;

  TensorView view() const;
};

// Something that is a tensor, but whose memory nobody can read (a tensor of a tracer, sparse, of an unknown device).
// The hook counts it as a loss.
struct UnreadableTensor {};

using TensorArgument = std::variant<BorrowedTensor, BorrowedStrings, UnreadableTensor>;

// TypeError, saying what was found and what to do, for what is no tensor.
TensorArgument tensor_argument(nanobind::handle value);

// A view that counts as a loss wherever it is saved.
TensorView unreadable_view();

// As parse_dtype, and the frameworks' own names: "torch.float32", "float8_e4m3fn", "half". None when unknown.
std::optional<DType> dtype_of_name(std::string_view name);

}  // namespace trainwarden::python
