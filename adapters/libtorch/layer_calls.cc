// LayerCalls: names with running indices.
#include "layer_calls.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "tensor_bridge.h"

namespace trainwarden::torch {

namespace {

constexpr std::string_view kNotCaptured = "trainwarden/not_captured";
constexpr std::size_t kMaxUnseen = 64;

}  // namespace

std::size_t LayerCalls::layer(std::string_view name, const Collections& input_kinds) {
  const auto known = layer_by_name_.find(name);
  if (known != layer_by_name_.end()) return known->second;
  Collections of_inputs = {"inputs"};
  of_inputs.insert(of_inputs.end(), input_kinds.begin(), input_kinds.end());
  const std::size_t index = add(name, std::move(of_inputs), {"outputs"});
  declare_next(layers_[index].outputs);
  declare_next(layers_[index].inputs);
  return index;
}

std::size_t LayerCalls::loss(std::string_view name) {
  const auto known = layer_by_name_.find(name);
  if (known != layer_by_name_.end()) return known->second;
  const std::size_t index = add(name, {"inputs"}, {"losses"});
  layers_[index].outputs.most = std::numeric_limits<std::size_t>::max();
  declare_next(layers_[index].outputs);
  return index;
}

std::size_t LayerCalls::function(std::string_view name, const Collections& input_kinds,
                                 const Collections& output_kinds) {
  const auto known = layer_by_name_.find(name);
  return known != layer_by_name_.end() ? known->second : add(name, input_kinds, output_kinds);
}

std::size_t LayerCalls::add(std::string_view name, Collections of_inputs, Collections of_outputs) {
  const std::string stem(name);
  layers_.push_back({.inputs = {.stem = stem + "_input_", .collections = std::move(of_inputs), .most = most_},
                     .outputs = {.stem = stem + "_output_", .collections = std::move(of_outputs), .most = most_}});
  layer_by_name_.emplace(stem, layers_.size() - 1);
  return layers_.size() - 1;
}

void LayerCalls::declare_next(Series& series, std::string_view kind) {
  Collections collections = series.collections;
  if (!kind.empty()) collections.push_back(kind);
  series.ids.push_back(hook_.declare(series.stem + std::to_string(series.ids.size()), collections));
}

void LayerCalls::save_input(std::size_t layer, const at::Tensor& tensor, std::string_view kind) {
  save(layers_[layer].inputs, tensor, kind);
}

void LayerCalls::save_output(std::size_t layer, const at::Tensor& tensor) {
  save(layers_[layer].outputs, tensor);
}

void LayerCalls::save(Series& series, const at::Tensor& tensor, std::string_view kind) {
  if (!tensor.defined()) return;
  if (series.next == series.most) return cut(series);
  if (series.next == series.ids.size()) declare_next(series, kind);
  save_if_wanted(hook_, series.ids[series.next++], tensor);
}

void LayerCalls::cut(Series& series) {
  if (std::exchange(series.is_cut, true) || unseen_.size() == kMaxUnseen) return;
  unseen_.push_back(series.stem + std::to_string(series.most) +
                    " and what follows in the step, as capture has a budget");
}

bool LayerCalls::any_wanted(std::size_t layer) {
  return any_wanted(layers_[layer].inputs) || any_wanted(layers_[layer].outputs);
}

bool LayerCalls::any_wanted(const Series& series) {
  return std::any_of(series.ids.begin(), series.ids.end(), [this](TensorId id) { return hook_.wants(id); });
}

void LayerCalls::end_step() {
  if (unseen_written_ == unseen_.size()) return;
  const TensorId id = hook_.declare(kNotCaptured, Collections{"scalars"});
  if (!hook_.wants(id)) return;  // in a step in which something is kept
  unseen_written_ = unseen_.size();
  const std::vector<std::string_view> texts(unseen_.begin(), unseen_.end());
  hook_.save_strings(kNotCaptured, texts);
}

void LayerCalls::begin_step() {
  for (Layer& layer : layers_) layer.inputs.next = layer.outputs.next = 0;
}

}  // namespace trainwarden::torch
