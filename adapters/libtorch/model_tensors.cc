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

template <class Tensors>
bool are_same(const Tensors& a, const Tensors& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const auto& left, const auto& right) { return left->is_same(*right); });
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
  NamedTensors parameters = module_.named_parameters();
  NamedTensors buffers = module_.named_buffers();
  if (are_same(parameters, seen_parameters_) && are_same(buffers, seen_buffers_)) return false;
  parameters_ = declare_all<Parameter>(
      parameters, [this](const auto& item) { return declare_parameter(prefix_ + item.key(), *item); });
  buffers_ =
      declare_all<Buffer>(buffers, [this](const auto& item) { return declare_buffer(prefix_ + item.key(), *item); });
  seen_parameters_ = std::move(parameters);
  seen_buffers_ = std::move(buffers);
  return true;
}

Parameter ModelTensors::declare_parameter(const std::string& name, const at::Tensor& tensor) {
  return {.tensor = tensor, .name = name, .id = hook_.declare(name), .gradient_id = hook_.declare("gradient/" + name)};
}

ModelTensors::Buffer ModelTensors::declare_buffer(const std::string& name, const at::Tensor& tensor) {
  constexpr std::array<std::string_view, 1> kCollections = {"buffers"};
  return {.tensor = tensor, .id = hook_.declare(name, kCollections)};
}

void ModelTensors::save() {
  for (const Parameter& parameter : parameters_) {
    save_if_wanted(hook_, parameter.id, parameter.tensor);
    if (hook_.wants(parameter.gradient_id)) save_if_wanted(hook_, parameter.gradient_id, parameter.tensor.grad());
  }
  for (const Buffer& buffer : buffers_) save_if_wanted(hook_, buffer.id, buffer.tensor);
}

}  // namespace trainwarden::torch
