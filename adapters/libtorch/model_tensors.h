// ModelTensors: the parameters, buffers and gradients of a module, by name.
#pragma once

#include <torch/nn/module.h>

#include <string>
#include <vector>

#include "trainwarden/hook.h"

namespace trainwarden::torch {

struct Parameter {
  at::Tensor tensor;
  std::string name;
  TensorId id;
  TensorId gradient_id;
};

class ModelTensors {
 public:
  ModelTensors(Hook& hook, const ::torch::nn::Module& module, std::string prefix);

  // Declares what the module has now. False when nothing changed since the last call. (Walking 200 parameters takes
  // about 30 µs, most of it LibTorch's making of names.)
  bool refresh();
  void save();
  const std::vector<Parameter>& parameters() const { return parameters_; }

 private:
  using NamedTensors = ::torch::OrderedDict<std::string, at::Tensor>;
  struct Buffer {
    at::Tensor tensor;
    TensorId id;
  };

  Parameter declare_parameter(const std::string& name, const at::Tensor& tensor);
  Buffer declare_buffer(const std::string& name, const at::Tensor& tensor);

  Hook& hook_;
  const ::torch::nn::Module& module_;
  const std::string prefix_;
  NamedTensors seen_parameters_;  // as the module names them, shared ones under every name
  NamedTensors seen_buffers_;
  std::vector<Parameter> parameters_;
  std::vector<Buffer> buffers_;
};

}  // namespace trainwarden::torch
