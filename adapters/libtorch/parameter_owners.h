// ParameterOwners: whose parameter or buffer is it? By address, so that views (the transposed weight of a linear layer,
// a slice) are recognised.
#pragma once

#include <torch/nn/module.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "layer_operator.h"
#include "weak_tensor.h"

namespace trainwarden::torch {

// The class of a module for people: "torch::nn::LinearImpl" and "Linear" are both Linear.
std::string class_of(const ::torch::nn::Module& module);

// Submodules that hold parameters or buffers of their own are called layers here; they are told apart by a number.
class ParameterOwners {
 public:
  // `number_of` gives the number for the layer of a path ("conv0", or the class for the watched module itself), which
  // is of this class ("Conv2d").
  ParameterOwners(const ::torch::nn::Module& module,
                  const std::function<std::size_t(const std::string& path, const std::string& type)>& number_of);

  // The layer that an operator on these tensors is a call of: the one with most of its tensors among them. None when
  // none of them is a layer's. A weight that several layers share goes by the kind of operator, then to the first.
  std::optional<std::size_t> layer_of(const std::vector<at::Tensor>& operands, LayerOperator kind) const;

  bool owns(std::size_t layer, const at::Tensor& tensor) const;

  // Does any of the tensors lie elsewhere than when this was made?
  bool have_moved() const;

 private:
  struct Extent {
    WeakTensor tensor;
    const std::byte* begin;
    const std::byte* end;
    std::size_t owner;  // index into owners_
  };
  struct Owner {
    std::size_t layer;
    bool is_embedding;
  };

  void add(const at::Tensor& tensor, std::size_t owner);
  // Of all owners of the memory that the tensor begins in.
  std::vector<std::size_t> owners_of(const at::Tensor& tensor) const;

  std::vector<Owner> owners_;
  std::vector<Extent> extents_;  // by rising begin, then owner
};

}  // namespace trainwarden::torch
