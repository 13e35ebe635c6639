// LayerCalls: names with running indices.
#include "layer_calls.h"

#include <algorithm>
#include <array>

#include "tensor_bridge.h"

namespace trainwarden::torch {

std::size_t LayerCalls::layer(std::string_view name) {
  const auto known = layer_by_name_.find(name);
  if (known != layer_by_name_.end()) return known->second;
  const std::size_t index = add(name, "outputs");
  declare_next(layers_[index].inputs);
  return index;
}

std::size_t LayerCalls::loss(std::string_view name) {
  const auto known = layer_by_name_.find(name);
  return known != layer_by_name_.end() ? known->second : add(name, "losses");
}

std::size_t LayerCalls::add(std::string_view name, std::string_view output_collection) {
  const std::string stem(name);
  layers_.push_back({.inputs = {.stem = stem + "_input_", .collection = "inputs"},
                     .outputs = {.stem = stem + "_output_", .collection = output_collection}});
  layer_by_name_.emplace(stem, layers_.size() - 1);
  declare_next(layers_.back().outputs);
  return layers_.size() - 1;
}

void LayerCalls::declare_next(Series& series) {
  const std::array collections = {series.collection};
  series.ids.push_back(hook_.declare(series.stem + std::to_string(series.ids.size()), collections));
}

void LayerCalls::save_input(std::size_t layer, const at::Tensor& tensor) {
  save(layers_[layer].inputs, tensor);
}

void LayerCalls::save_output(std::size_t layer, const at::Tensor& tensor) {
  save(layers_[layer].outputs, tensor);
}

void LayerCalls::save(Series& series, const at::Tensor& tensor) {
  if (!tensor.defined()) return;
  if (series.next == series.ids.size()) declare_next(series);
  save_if_wanted(hook_, series.ids[series.next++], tensor);
}

bool LayerCalls::any_wanted(std::size_t layer) {
  return any_wanted(layers_[layer].inputs) || any_wanted(layers_[layer].outputs);
}

bool LayerCalls::any_wanted(const Series& series) {
  return std::any_of(series.ids.begin(), series.ids.end(), [this](TensorId id) { return hook_.wants(id); });
}

void LayerCalls::begin_step() {
  for (Layer& layer : layers_) layer.inputs.next = layer.outputs.next = 0;
}

}  // namespace trainwarden::torch
