// ModelTensors: walks a module's parameters and buffers.
#include "model_tensors.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "tensor_bridge.h"

namespace trainwarden::torch {
namespace {

using NamedTensors = ::torch::OrderedDict<std::string, at::Tensor>;

std::vector<const c10::TensorImpl*> addresses_of(const NamedTensors& parameters, const NamedTensors& buffers) {
  std::vector<const c10::TensorImpl*> addresses;
  addresses.reserve(parameters.size() + buffers.size());
  for (const auto& item : parameters) addresses.push_back(item->unsafeGetTensorImpl());
  for (const auto& item : buffers) addresses.push_back(item->unsafeGetTensorImpl());
  return addresses;
}

// One Watched for each tensor, under the first of its names; undefined ones are left out.
template <class Watched, class Tensors, class Declare>
std::vector<Watched> declare_all(const Tensors& tensors, Declare declare) {
  std::vector<Watched> watched;
  std::unordered_set<const c10::TensorImpl*> known;
  for (const auto& item : tensors) {
    if (item->defined() && known.insert(item->unsafeGetTensorImpl()).second) watched.push_back(declare(item));
  }
  return watched;
}

}  // namespace

ModelTensors::ModelTensors(Hook& hook, const ::torch::nn::Module& module, std::string prefix)
    : hook_(hook), module_(module), prefix_(std::move(prefix)) {
  refresh();
}

bool ModelTensors::refresh() {
  const NamedTensors parameters = module_.named_parameters();
  const NamedTensors buffers = module_.named_buffers();
  auto addresses = addresses_of(parameters, buffers);
  if (addresses == seen_) return false;
  seen_ = std::move(addresses);
  parameters_ = declare_all<Parameter>(
      parameters, [this](const auto& item) { return declare_parameter(prefix_ + item.key(), *item); });
  buffers_ =
      declare_all<Buffer>(buffers, [this](const auto& item) { return declare_buffer(prefix_ + item.key(), *item); });
  return true;
}

Parameter ModelTensors::declare_parameter(const std::string& name, const at::Tensor& tensor) {
  return {.tensor = WeakTensor(tensor),
          .name = name,
          .id = hook_.declare(name),
          .gradient_id = hook_.declare("gradient/" + name)};
}

ModelTensors::Buffer ModelTensors::declare_buffer(const std::string& name, const at::Tensor& tensor) {
  constexpr std::array<std::string_view, 1> kCollections = {"buffers"};
  return {.tensor = WeakTensor(tensor), .id = hook_.declare(name, kCollections)};
}

void ModelTensors::save_parameters_and_buffers() {
  for (const Parameter& parameter : parameters_) {
    if (hook_.wants(parameter.id)) save_if_wanted(hook_, parameter.id, parameter.tensor.lock());
  }
  for (const Buffer& buffer : buffers_) {
    if (hook_.wants(buffer.id)) save_if_wanted(hook_, buffer.id, buffer.tensor.lock());
  }
}

void ModelTensors::save_gradients() {
  for (const Parameter& parameter : parameters_) save_gradient(parameter);
}

void ModelTensors::save_gradients_of(const ParameterSet& parameters) {
  for (const Parameter& parameter : parameters_) {
    if (parameters.contains(parameter.tensor.address())) save_gradient(parameter);
  }
}

void ModelTensors::save_gradient(const Parameter& parameter) {
  if (!hook_.wants(parameter.gradient_id)) return;
  const at::Tensor tensor = parameter.tensor.lock();
  if (tensor.defined()) save_if_wanted(hook_, parameter.gradient_id, tensor.grad());
}

}  // namespace trainwarden::torch
